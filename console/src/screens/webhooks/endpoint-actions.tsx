/** What can be done with an endpoint. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import { useBecause } from '../../api/may.ts'
import { useAction } from '../../api/use-action.ts'
import { useStale } from '../../api/use-stale.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Done } from '../../parts/done.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import { text } from '../../text/en.ts'
import { ChangeEndpoint } from './change-endpoint.tsx'
import { outcomeOf } from './deliveries.tsx'
import type { Endpoint } from './endpoint.ts'
import { ReplayFailed } from './replay-failed.tsx'
import { RollSecret } from './roll-secret.tsx'

type Asked = 'change' | 'roll' | 'disable' | 'delete'

export function EndpointActions({ endpoint }: { endpoint: Endpoint }) {
  const place = usePlace()
  const stale = useStale(place)
  const allowed = useBecause(place)
  const because = allowed('webhooks:write')
  const notTested = allowed('webhooks:write', 'webhook_endpoints.test')
  const notReplayed = allowed('webhooks:write', 'deliveries.retry')
  const words = text.webhooks.one
  const [asked, ask] = useState<Asked>()
  const [done, setDone] = useState('')
  const { id, status } = endpoint
  const close = () => ask(undefined)
  const fresh = (said: string) => {
    close()
    setDone(said)
    return stale('webhook_endpoints.')
  }
  const test = useAction(
    (of: string, key) =>
      answered(
        v1(place).POST('/v1/webhook_endpoints/{id}/test', {
          params: { path: { id: of } },
          headers: { 'Idempotency-Key': key },
        }),
      ),
    (delivery) => fresh(outcomeOf(delivery)),
  )
  const set = useAction(
    (to: 'active' | 'disabled') =>
      answered(v1(place).PATCH('/v1/webhook_endpoints/{id}', { params: { path: { id } }, body: { status: to } })),
    (changed) => fresh(changed.status === 'active' ? words.enabled : words.disabled),
  )
  const shared = { variant: 'default', because } as const
  return (
    <div>
      <div className="actions">
        <ActionButton
          label={words.test}
          {...shared}
          because={notTested}
          loading={test.isRunning}
          onPress={() => test.run(id)}
        />
        <ActionButton label={words.edit} {...shared} onPress={() => ask('change')} />
        <ActionButton label={words.roll} {...shared} onPress={() => ask('roll')} />
        {status === 'active' ? (
          <ActionButton label={words.disable} {...shared} onPress={() => ask('disable')} />
        ) : (
          <ActionButton label={words.enable} {...shared} loading={set.isRunning} onPress={() => set.run('active')} />
        )}
        <ReplayFailed
          id={id}
          because={notReplayed ?? (status === 'active' ? undefined : words.enableFirst)}
          onTold={fresh}
        />
        <ActionButton label={words.delete} {...shared} onPress={() => ask('delete')} />
      </div>
      {test.problem !== undefined && <ProblemAlert problem={test.problem} />}
      {asked === undefined && set.problem !== undefined && <ProblemAlert problem={set.problem} />}
      <Done text={done} />
      {asked === 'change' && <ChangeEndpoint endpoint={endpoint} onClose={close} onSaved={() => fresh(words.saved)} />}
      {asked === 'roll' && <RollSecret id={id} onClose={close} />}
      <ConfirmDialog
        title={words.disable}
        why={words.disableWhy}
        isOpen={asked === 'disable'}
        onClose={close}
        action={set}
        onConfirm={() => set.run('disabled')}
      />
      {asked === 'delete' && <DeleteEndpoint endpoint={endpoint} onClose={close} />}
    </div>
  )
}

function DeleteEndpoint({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const place = usePlace()
  const navigate = useNavigate()
  const stale = useStale(place)
  const action = useAction(
    (id: string) => answered(v1(place).DELETE('/v1/webhook_endpoints/{id}', { params: { path: { id } } })),
    async () => {
      await navigate({ to: pathTo(place, 'webhooks') as never })
      await stale('webhook_endpoints.list')
    },
  )
  const words = text.webhooks.one
  return (
    <ConfirmDialog
      title={words.delete}
      why={words.deleteWhy(endpoint.url)}
      isOpen
      onClose={onClose}
      action={action}
      onConfirm={() => action.run(endpoint.id)}
    />
  )
}
