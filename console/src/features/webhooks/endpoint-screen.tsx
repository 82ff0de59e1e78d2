/** One webhook endpoint. */
import { Button, Code, Group, Stack, Text } from '@mantine/core'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { unwrap, v1 } from '../../api/client.ts'
import { useDisabledReason } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useApiQuery, useInvalidate } from '../../api/use-api-query.ts'
import { pathTo, useWorkspace } from '../../app/paths.ts'
import { SuccessNotice, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { ConfirmDialog, Dialog, SecretDialog } from '../../components/feedback/dialog.tsx'
import { QueryScreen, Screen } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { ChoiceField } from '../../components/form/fields.tsx'
import { DescriptionList, Region, Status } from '../../components/format/facts.tsx'
import { useTimeFormat } from '../../components/format/intl.tsx'
import { ObjectLink } from '../../components/format/links.tsx'
import { text } from '../../text/en.ts'
import { Deliveries, outcomeOf, ReplayFailed } from './deliveries.tsx'
import { ChangeEndpoint, type Endpoint, eventsOf } from './endpoint-form.tsx'

export function EndpointScreen() {
  const workspace = useWorkspace()
  const { id } = useParams({ strict: false }) as { id: string }
  const endpoint = useApiQuery(workspace, ['webhook_endpoints.retrieve', id], () =>
    v1(workspace).GET('/v1/webhook_endpoints/{id}', { params: { path: { id } } }),
  )
  return (
    <QueryScreen title={text.screens.webhooks} query={endpoint}>
      {(loaded) => (
        <Screen
          title={loaded.url}
          mode={workspace.mode}
          actions={
            <ApiButton
              request={{ operation: 'webhook_endpoints.retrieve', method: 'GET', path: `/v1/webhook_endpoints/${id}` }}
            />
          }
        >
          <Stack gap="lg">
            <EndpointFacts endpoint={loaded} />
            <EndpointActions endpoint={loaded} />
            <Deliveries endpoint={loaded} />
          </Stack>
        </Screen>
      )}
    </QueryScreen>
  )
}

function EndpointFacts({ endpoint }: { endpoint: Endpoint }) {
  const time = useTimeFormat()
  const words = text.webhooks
  const { filters, metadata, source } = endpoint
  return (
    <Region title={words.one.facts}>
      <DescriptionList
        of={[
          [words.columns.status, <Status key="status" status={endpoint.status} />],
          [words.one.id, endpoint.id],
          [words.description, endpoint.description === '' ? null : endpoint.description],
          [words.events, eventsOf(endpoint, words.allEvents)],
          [words.filters, Object.keys(filters).length === 0 ? null : <Json key="filters" value={filters} />],
          [words.metadata, Object.keys(metadata).length === 0 ? null : <Json key="metadata" value={metadata} />],
          [words.token, endpoint.has_verification_token ? words.yes : words.no],
          [words.source, source === null ? null : <ObjectLink key="source" id={source} />],
          [words.one.createdBy, endpoint.created_by.id],
          [words.columns.createdAt, time(endpoint.created_at)],
        ]}
      />
    </Region>
  )
}

const Json = ({ value }: { value: unknown }) => <Code className="code">{JSON.stringify(value)}</Code>

type Asked = 'change' | 'roll' | 'disable' | 'delete'

function useTest(onDone: (outcome: string) => unknown) {
  const workspace = useWorkspace()
  return useApiMutation(
    (of: string, key) =>
      unwrap(
        v1(workspace).POST('/v1/webhook_endpoints/{id}/test', {
          params: { path: { id: of } },
          headers: { 'Idempotency-Key': key },
        }),
      ),
    (delivery) => onDone(outcomeOf(delivery)),
  )
}

function useStatusChange(id: string, onDone: (said: string) => unknown) {
  const workspace = useWorkspace()
  const words = text.webhooks.one
  return useApiMutation(
    (to: 'active' | 'disabled') =>
      unwrap(v1(workspace).PATCH('/v1/webhook_endpoints/{id}', { params: { path: { id } }, body: { status: to } })),
    (changed) => onDone(changed.status === 'active' ? words.enabled : words.disabled),
  )
}

function EndpointActions({ endpoint }: { endpoint: Endpoint }) {
  const workspace = useWorkspace()
  const invalidate = useInvalidate(workspace)
  const allowed = useDisabledReason(workspace)
  const disabledReason = allowed('webhooks:write')
  const notReplayed = allowed('webhooks:write', 'deliveries.retry')
  const words = text.webhooks.one
  const [asked, ask] = useState<Asked>()
  const [done, setDone] = useState('')
  const { id, status } = endpoint
  const close = () => ask(undefined)
  const fresh = (said: string) => {
    close()
    setDone(said)
    return invalidate('webhook_endpoints.')
  }
  const test = useTest(fresh)
  const set = useStatusChange(id, fresh)
  const shared = { variant: 'default', disabledReason } as const
  return (
    <div>
      <div className="actions">
        <ActionButton
          label={words.test}
          {...shared}
          disabledReason={allowed('webhooks:write', 'webhook_endpoints.test')}
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
          disabledReason={notReplayed ?? (status === 'active' ? undefined : words.enableFirst)}
          onOutcome={fresh}
        />
        <ActionButton label={words.delete} {...shared} onPress={() => ask('delete')} />
      </div>
      {test.problem !== undefined && <ProblemAlert problem={test.problem} />}
      {asked === undefined && set.problem !== undefined && <ProblemAlert problem={set.problem} />}
      <SuccessNotice text={done} />
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
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const invalidate = useInvalidate(workspace)
  const action = useApiMutation(
    (id: string) => unwrap(v1(workspace).DELETE('/v1/webhook_endpoints/{id}', { params: { path: { id } } })),
    async () => {
      await navigate({ to: pathTo(workspace, 'webhooks') as never })
      await invalidate('webhook_endpoints.list')
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

function RollSecret({ id, onClose }: { id: string; onClose: () => void }) {
  const workspace = useWorkspace()
  const words = text.webhooks.one
  const [seconds, setSeconds] = useState('3600')
  const roll = useApiMutation((expire_previous_in_seconds: number, key) =>
    unwrap(
      v1(workspace).POST('/v1/webhook_endpoints/{id}/roll_secret', {
        params: { path: { id } },
        body: { expire_previous_in_seconds },
        headers: { 'Idempotency-Key': key },
      }),
    ),
  )
  if (roll.result !== undefined)
    return <SecretDialog title={text.webhooks.secret} secret={roll.result.secret} onStored={onClose} />
  const choices = [
    { value: '0', label: words.rollTimes.now },
    { value: '3600', label: words.rollTimes.hour },
    { value: '86400', label: words.rollTimes.day },
  ]
  return (
    <Dialog title={words.roll} isOpen onClose={onClose}>
      <Stack>
        <Text size="sm">{words.rollWhy}</Text>
        <ChoiceField label={words.rollFor} choices={choices} value={seconds} onChange={setSeconds} />
        {roll.problem !== undefined && <ProblemAlert problem={roll.problem} />}
        <Group justify="flex-end">
          <Button loading={roll.isRunning} onClick={() => roll.run(Number(seconds))}>
            {words.roll}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
