/** A new endpoint. Its signing secret is shown by the screen, once this dialog is gone. */
import { Button, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useAction } from '../../api/use-action.ts'
import { useStale } from '../../api/use-stale.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { FormProblem } from '../../parts/form-problem.tsx'
import { useDraft } from '../../parts/use-draft.ts'
import { usePlace } from '../../parts/use-place.ts'
import { text } from '../../text/en.ts'
import { objectIn } from '../../parts/json-object.ts'
import { bodyOf, emptyDraft, type Creation } from './endpoint.ts'
import { EndpointFields, endpointFields } from './endpoint-fields.tsx'

export function NewEndpoint({
  onClose,
  onCreated,
}: {
  onClose: () => void
  onCreated: (made: components['schemas']['WebhookEndpointWithSecret']) => void
}) {
  const place = usePlace()
  const stale = useStale(place)
  const [draft, change, forget] = useDraft(place, 'endpoint', emptyDraft)
  // a secret, and so kept nowhere
  const [token, setToken] = useState('')
  const create = useAction(
    (body: Creation, key) =>
      answered(v1(place).POST('/v1/webhook_endpoints', { body, headers: { 'Idempotency-Key': key } })),
    async (made) => {
      forget()
      await stale('webhook_endpoints.')
      onCreated(made)
    },
  )
  return (
    <Dialog title={text.webhooks.create} isOpen onClose={onClose} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (objectIn(draft.metadata) === undefined) return
          create.run({ ...bodyOf(draft, token), ...(draft.source === '' ? {} : { source: draft.source.trim() }) })
        }}
      >
        <Stack>
          <EndpointFields draft={draft} onChange={change} token={token} onToken={setToken} problem={create.problem} />
          <FormProblem problem={create.problem} fields={endpointFields} />
          <Group justify="flex-end">
            <Button type="submit" loading={create.isRunning}>
              {text.webhooks.createButton}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
