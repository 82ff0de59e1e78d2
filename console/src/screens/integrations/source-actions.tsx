/** What can be done with a source: changed, given a new key, disabled, deleted. */
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import { useBecause } from '../../api/may.ts'
import { useAction } from '../../api/use-action.ts'
import { useStale } from '../../api/use-stale.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { DeleteButton } from '../../parts/delete-button.tsx'
import { Done } from '../../parts/done.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { SecretDialog } from '../../parts/secret-dialog.tsx'
import type { Place } from '../../paths.ts'
import { text } from '../../text/en.ts'
import { ChangeSource } from './change-source.tsx'
import type { Source, SourceSecrets } from './source.ts'

const words = text.integrations.one

interface ActionProps {
  readonly place: Place
  readonly source: Source
  readonly because: string | undefined
}

export function SourceActions({ place, source }: { place: Place; source: Source }) {
  const stale = useStale(place)
  const because = useBecause(place)('integrations:write')
  const [isChanging, setChanging] = useState(false)
  const [done, setDone] = useState('')
  const enabling = useAction(
    ({ id, status }: { id: string; status: 'active' | 'disabled' }) =>
      answered(v1(place).PATCH('/v1/integration_sources/{id}', { params: { path: { id } }, body: { status } })),
    async ({ status }) => {
      setDone(status === 'active' ? words.enabled : words.disabled)
      await stale('integration_sources.')
    },
  )
  const isOff = source.status === 'disabled'
  return (
    <div>
      <div className="actions">
        <ActionButton label={words.change} variant="default" because={because} onPress={() => setChanging(true)} />
        <RollButton place={place} source={source} because={because} />
        <ActionButton
          label={isOff ? words.enable : words.disable}
          variant="default"
          because={because}
          loading={enabling.isRunning}
          onPress={() => enabling.run({ id: source.id, status: isOff ? 'active' : 'disabled' })}
        />
        <DeleteButton
          place={place}
          id={source.id}
          words={words}
          because={because}
          remove={(id) => v1(place).DELETE('/v1/integration_sources/{id}', { params: { path: { id } } })}
          section="integrations"
          stale={['integration_sources.list', 'automations.']}
        />
      </div>
      {enabling.problem !== undefined && <ProblemAlert problem={enabling.problem} />}
      <Done text={done} />
      {isChanging && (
        <ChangeSource
          place={place}
          source={source}
          onClose={() => setChanging(false)}
          onSaved={() => {
            setChanging(false)
            setDone(words.saved)
            return stale('integration_sources.')
          }}
        />
      )}
    </div>
  )
}

function RollButton({ place, source, because }: ActionProps) {
  const stale = useStale(place)
  const [isAsking, setAsking] = useState(false)
  const [made, setMade] = useState<SourceSecrets>()
  const action = useAction(
    (id: string, key) =>
      answered(
        v1(place).POST('/v1/integration_sources/{id}/roll_key', {
          params: { path: { id } },
          headers: { 'Idempotency-Key': key },
        }),
      ),
    async (rolled) => {
      setAsking(false)
      setMade(rolled)
      await stale('integration_sources.')
    },
  )
  return (
    <>
      <ActionButton label={words.roll} variant="default" because={because} onPress={() => setAsking(true)} />
      <ConfirmDialog
        title={words.roll}
        why={words.rollWhy}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        action={action}
        onConfirm={() => action.run(source.id)}
      />
      <SecretDialog
        title={text.integrations.form.key}
        secret={made?.source_key}
        also={made === undefined ? undefined : { label: text.integrations.form.signing, secret: made.signing_secret }}
        onStored={() => setMade(undefined)}
      />
    </>
  )
}
