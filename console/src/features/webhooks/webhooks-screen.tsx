/** The list of webhook endpoints. */
import { Button, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { unwrap, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useDisabledReason } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { listQuery, useApiQuery, useInvalidate } from '../../api/use-api-query.ts'
import { pathTo, useWorkspace } from '../../app/paths.ts'
import { SuccessNotice } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Dialog, SecretDialog } from '../../components/feedback/dialog.tsx'
import { Screen } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { FormProblem } from '../../components/form/fields.tsx'
import { parseJsonObject } from '../../components/form/json.ts'
import { useDraft } from '../../components/form/use-draft.ts'
import { Status } from '../../components/format/facts.tsx'
import { useTimeFormat } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { useFilters } from '../../components/table/filters.tsx'
import { type Column, ListTable } from '../../components/table/list-table.tsx'
import { text } from '../../text/en.ts'
import {
  bodyOf,
  type Creation,
  emptyDraft,
  type Endpoint,
  EndpointFields,
  endpointFields,
  eventsOf,
} from './endpoint-form.tsx'

export function WebhooksScreen() {
  const workspace = useWorkspace()
  const disabledReason = useDisabledReason(workspace)('webhooks:write')
  const { query, clear } = useFilters([])
  const [isOpen, setOpen] = useState(false)
  const [secret, setSecret] = useState<string>()
  const [done, setDone] = useState('')
  const endpoints = useApiQuery(workspace, ['webhook_endpoints.list', query], () =>
    v1(workspace).GET('/v1/webhook_endpoints', { params: { query: listQuery(query) } }),
  )
  const columns = useColumns()
  const words = text.webhooks
  const create = <ActionButton label={words.create} disabledReason={disabledReason} onPress={() => setOpen(true)} />
  const isEmpty = endpoints.data?.data.length === 0
  return (
    <Screen
      title={text.screens.webhooks}
      mode={workspace.mode}
      actions={
        <>
          <ApiButton
            request={{ operation: 'webhook_endpoints.list', method: 'GET', path: '/v1/webhook_endpoints?limit=50' }}
          />
          {!isEmpty && create}
        </>
      }
    >
      <SuccessNotice text={done} />
      <ListTable
        name={text.screens.webhooks}
        columns={columns}
        query={endpoints}
        isFiltered={false}
        onClearFilters={clear}
        empty={words.empty}
        emptyAction={create}
      />
      {isOpen && (
        <NewEndpoint
          onClose={() => setOpen(false)}
          onCreated={(made) => {
            setOpen(false)
            setSecret(made.secret)
          }}
        />
      )}
      <SecretDialog
        title={words.secret}
        secret={secret}
        onStored={() => {
          setSecret(undefined)
          setDone(words.created)
        }}
      />
    </Screen>
  )
}

function useColumns(): Column<Endpoint>[] {
  const workspace = useWorkspace()
  const time = useTimeFormat()
  const { columns, allEvents } = text.webhooks
  return [
    {
      id: 'url',
      header: columns.url,
      cell: ({ id, url }) => (
        <PathLink to={pathTo(workspace, 'webhooks', id)}>
          <bdi>{url}</bdi>
        </PathLink>
      ),
    },
    { id: 'events', header: columns.events, cell: (endpoint) => eventsOf(endpoint, allEvents) },
    { id: 'status', header: columns.status, cell: ({ status }) => <Status status={status} /> },
    { id: 'description', header: columns.description, cell: ({ description }) => <bdi>{description}</bdi> },
    { id: 'created_at', header: columns.createdAt, cell: ({ created_at }) => time(created_at) },
  ]
}

/** The screen shows the signing secret afterwards. */
function NewEndpoint({
  onClose,
  onCreated,
}: {
  onClose: () => void
  onCreated: (made: components['schemas']['WebhookEndpointWithSecret']) => void
}) {
  const workspace = useWorkspace()
  const invalidate = useInvalidate(workspace)
  const [draft, change, discard] = useDraft(workspace, 'endpoint', emptyDraft)
  // secrets are never stored in the browser
  const [token, setToken] = useState('')
  const create = useApiMutation(
    (body: Creation, key) =>
      unwrap(v1(workspace).POST('/v1/webhook_endpoints', { body, headers: { 'Idempotency-Key': key } })),
    async (made) => {
      discard()
      await invalidate('webhook_endpoints.')
      onCreated(made)
    },
  )
  return (
    <Dialog title={text.webhooks.create} isOpen onClose={onClose} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (parseJsonObject(draft.metadata) === undefined) return
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
