/** What can be changed about an endpoint. */
import { Button, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import { useAction } from '../../api/use-action.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { FormProblem } from '../../parts/form-problem.tsx'
import { Outdated } from '../../parts/outdated.tsx'
import { useDraft } from '../../parts/use-draft.ts'
import { usePlace } from '../../parts/use-place.ts'
import { text } from '../../text/en.ts'
import { objectIn } from '../../parts/json-object.ts'
import { bodyOf, draftOf, type Creation, type Endpoint } from './endpoint.ts'
import { EndpointFields, endpointFields } from './endpoint-fields.tsx'

export function ChangeEndpoint({
  endpoint,
  onClose,
  onSaved,
}: {
  endpoint: Endpoint
  onClose: () => void
  onSaved: () => unknown
}) {
  const place = usePlace()
  const [draft, change, forget, { isOutdated }] = useDraft(place, `endpoint ${endpoint.id}`, draftOf(endpoint))
  const [token, setToken] = useState('')
  const { id } = endpoint
  const save = useAction(
    (body: Omit<Creation, 'source'>) =>
      answered(v1(place).PATCH('/v1/webhook_endpoints/{id}', { params: { path: { id } }, body })),
    () => {
      forget()
      return onSaved()
    },
  )
  return (
    <Dialog title={text.webhooks.one.edit} isOpen onClose={onClose} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (objectIn(draft.metadata) !== undefined) save.run(bodyOf(draft, token))
        }}
      >
        <Stack>
          <Outdated when={isOutdated} onGivenUp={forget} />
          <EndpointFields
            draft={draft}
            onChange={change}
            token={token}
            onToken={setToken}
            problem={save.problem}
            isChange
          />
          <FormProblem problem={save.problem} fields={endpointFields} />
          <Group justify="flex-end">
            <Button type="submit" loading={save.isRunning}>
              {text.webhooks.one.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
