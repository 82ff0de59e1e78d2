/** A new API key of the mode, with its scopes; the answer holds the key, once. */
import { Button, Checkbox, Group, Stack } from '@mantine/core'
import { answered, own } from '../../api/client.ts'
import { scopes } from '../../api/generated/tables.ts'
import { useAction } from '../../api/use-action.ts'
import { useStale } from '../../api/use-stale.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/fields.tsx'
import { FormProblem } from '../../parts/form-problem.tsx'
import { instantOf, useZone } from '../../parts/times.ts'
import { useDraft } from '../../parts/use-draft.ts'
import { usePlace } from '../../parts/use-place.ts'
import { text } from '../../text/en.ts'

type Scope = (typeof scopes)[number]

interface Draft {
  readonly name: string
  readonly expires: string
  readonly addresses: string
  readonly scopes: readonly Scope[]
}

const first: Draft = { name: '', expires: '', addresses: '', scopes }

/** As the API takes it. */
function bodyOf(draft: Draft, mode: 'live' | 'test', zone: string) {
  const addresses = draft.addresses.split(/[\s,]+/).filter((address) => address !== '')
  return {
    mode,
    scopes: [...draft.scopes],
    ...(draft.name.trim() === '' ? {} : { name: draft.name.trim() }),
    ...(draft.expires.trim() === '' ? {} : { expires_at: instantOf(draft.expires, zone) }),
    ...(addresses.length === 0 ? {} : { ip_allowlist: addresses }),
  }
}

export function CreateKey({ onClose, onMade }: { onClose: () => void; onMade: (key: string) => void }) {
  const place = usePlace()
  const zone = useZone()
  const stale = useStale(place)
  const [draft, change, forget] = useDraft(place, 'api_key', first)
  const create = useAction(
    (body: ReturnType<typeof bodyOf>, key) =>
      answered(own(place).POST('/console/api/api_keys', { body, headers: { 'Idempotency-Key': key } })),
    async ({ key }) => {
      forget()
      await stale('api_keys.')
      onMade(key)
    },
  )
  const { problem } = create
  const words = text.developers
  return (
    <Dialog title={words.create} isOpen onClose={onClose} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          create.run(bodyOf(draft, place.mode, zone))
        }}
      >
        <Stack>
          <TextField
            label={words.name}
            value={draft.name}
            onChange={(name) => change({ ...draft, name })}
            param="name"
            problem={problem}
          />
          <TextField
            label={words.expires}
            hint={words.expiresHint}
            value={draft.expires}
            onChange={(expires) => change({ ...draft, expires })}
            param="expires_at"
            problem={problem}
          />
          <TextField
            label={words.addresses}
            hint={words.addressesHint}
            value={draft.addresses}
            onChange={(addresses) => change({ ...draft, addresses })}
            param="ip_allowlist"
            problem={problem}
          />
          <Scopes chosen={draft.scopes} onChange={(chosen) => change({ ...draft, scopes: chosen })} />
          <FormProblem problem={problem} fields={['name', 'expires_at', 'ip_allowlist']} />
          <Group justify="flex-end">
            <Button type="submit" loading={create.isRunning}>
              {words.submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}

function Scopes({ chosen, onChange }: { chosen: readonly Scope[]; onChange: (chosen: readonly Scope[]) => void }) {
  return (
    <Checkbox.Group
      label={text.developers.scopes}
      value={[...chosen]}
      onChange={(values) => onChange(scopes.filter((scope) => values.includes(scope)))}
    >
      <div className="scopes">
        {scopes.map((scope) => (
          <Checkbox key={scope} value={scope} label={scope} size="md" />
        ))}
      </div>
    </Checkbox.Group>
  )
}
