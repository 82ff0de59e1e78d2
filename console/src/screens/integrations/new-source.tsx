/** Makes a source, and shows its key once. */
import { Button, Group, Stack } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { answered, v1 } from '../../api/client.ts'
import type { operations } from '../../api/generated/v1.ts'
import type { Problem } from '../../api/problem.ts'
import { useAction } from '../../api/use-action.ts'
import { useStale } from '../../api/use-stale.ts'
import { ApiButton } from '../../parts/api-button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Done } from '../../parts/done.tsx'
import { TextField } from '../../parts/fields.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { SecretDialog } from '../../parts/secret-dialog.tsx'
import { useDraft } from '../../parts/use-draft.ts'
import { pathTo, type Place } from '../../paths.ts'
import { text } from '../../text/en.ts'
import type { SourceSecrets } from './source.ts'

const words = text.integrations.form

type Creation = operations['integration_sources.upsert']['requestBody']['content']['application/json']

const empty = { platform: '', external_id: '', name: '', url: '' }

export function NewSource({ place, onClose }: { place: Place; onClose: () => void }) {
  const navigate = useNavigate()
  const stale = useStale(place)
  const [draft, change, forget] = useDraft(place, 'source', empty)
  const [made, setMade] = useState<SourceSecrets>()
  const [existing, setExisting] = useState<string>()
  const action = useAction(
    (body: Creation, key) =>
      answered(v1(place).POST('/v1/integration_sources', { body, headers: { 'Idempotency-Key': key } })),
    async (source) => {
      forget()
      if ('source_key' in source) setMade(source)
      else setExisting(source.id)
      await stale('integration_sources.')
    },
  )
  if (made !== undefined)
    return (
      <SecretDialog
        title={words.key}
        secret={made.source_key}
        also={{ label: words.signing, secret: made.signing_secret }}
        onStored={() => {
          onClose()
          void navigate({ to: pathTo(place, 'integrations', made.id) as never })
        }}
      />
    )
  return (
    <Dialog title={text.integrations.create} isOpen onClose={onClose}>
      <SourceForm
        draft={draft}
        onChange={change}
        problem={action.problem}
        isRunning={action.isRunning}
        onSubmit={() => action.run(bodyOf(draft))}
      >
        {existing !== undefined && (
          <>
            {words.existed}{' '}
            <PathLink to={pathTo(place, 'integrations', existing)}>{text.integrations.one.facts}</PathLink>
          </>
        )}
      </SourceForm>
    </Dialog>
  )
}

interface SourceFormProps {
  readonly draft: typeof empty
  readonly onChange: (draft: typeof empty) => void
  readonly problem: Problem | undefined
  readonly isRunning: boolean
  readonly onSubmit: () => void
  /** What is said of a source that was there. */
  readonly children: ReactNode
}

function SourceForm({ draft, onChange, problem, isRunning, onSubmit, children }: SourceFormProps) {
  const field = (param: keyof typeof empty) => ({
    param,
    problem,
    value: draft[param],
    onChange: (value: string) => onChange({ ...draft, [param]: value }),
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      <Stack>
        <TextField label={words.platform} hint={words.platformHint} {...field('platform')} required />
        <TextField label={words.store} hint={words.storeHint} {...field('external_id')} required />
        <TextField label={words.name} {...field('name')} />
        <TextField label={words.url} {...field('url')} />
        {problem !== undefined && <ProblemAlert problem={problem} />}
        <Done>{children}</Done>
        <Group justify="space-between">
          <ApiButton
            request={{
              operation: 'integration_sources.upsert',
              method: 'POST',
              path: '/v1/integration_sources',
              body: bodyOf(draft),
            }}
          />
          <Button type="submit" loading={isRunning}>
            {words.create}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** What is empty is left out, but for what is required. */
function bodyOf({ platform, external_id, name, url }: typeof empty): Creation {
  return {
    platform: platform.trim(),
    external_id: external_id.trim(),
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    ...(url.trim() === '' ? {} : { url: url.trim() }),
  }
}
