/** The list of sources. */
import { Button, Group, Stack } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { unwrap, type Problem, v1 } from '../../api/client.ts'
import type { components, operations } from '../../api/generated/v1.ts'
import { useDisabledReason } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { listQuery, useApiQuery, useInvalidate } from '../../api/use-api-query.ts'
import { pathTo, type Workspace, queryText, useWorkspace } from '../../app/paths.ts'
import { SuccessNotice, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Dialog, SecretDialog } from '../../components/feedback/dialog.tsx'
import { Screen } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { TextField } from '../../components/form/fields.tsx'
import { useDraft } from '../../components/form/use-draft.ts'
import { Status } from '../../components/format/facts.tsx'
import { useTimeFormat } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { useFilters } from '../../components/table/filters.tsx'
import { type Column, ListTable } from '../../components/table/list-table.tsx'
import { text } from '../../text/en.ts'

const { integrations: words } = text

export function SourcesScreen() {
  const workspace = useWorkspace()
  const disabledReason = useDisabledReason(workspace)('integrations:write')
  const [isCreating, setCreating] = useState(false)
  const { query, clear } = useFilters([])
  const sources = useApiQuery(workspace, ['integration_sources.list', query], () =>
    v1(workspace).GET('/v1/integration_sources', { params: { query: listQuery(query) } }),
  )
  const columns = useColumns(workspace)
  return (
    <Screen
      title={text.screens.integrations}
      mode={workspace.mode}
      actions={
        <>
          <ApiButton
            request={{
              operation: 'integration_sources.list',
              method: 'GET',
              path: `/v1/integration_sources${queryText({ ...query, limit: '50' })}`,
            }}
          />
          <ActionButton label={words.create} disabledReason={disabledReason} onPress={() => setCreating(true)} />
        </>
      }
    >
      <ListTable
        name={text.screens.integrations}
        columns={columns}
        query={sources}
        isFiltered={false}
        onClearFilters={clear}
        empty={words.none}
        emptyAction={
          disabledReason === undefined && (
            <ActionButton label={words.first} variant="light" onPress={() => setCreating(true)} />
          )
        }
      />
      {isCreating && <NewSource workspace={workspace} onClose={() => setCreating(false)} />}
    </Screen>
  )
}

function useColumns(workspace: Workspace): Column<Source>[] {
  const time = useTimeFormat()
  return [
    {
      id: 'name',
      header: words.columns.name,
      cell: ({ id, name }) => (
        <PathLink to={pathTo(workspace, 'integrations', id)}>
          <bdi>{name}</bdi>
        </PathLink>
      ),
    },
    { id: 'platform', header: words.columns.platform, cell: ({ platform }) => platform },
    { id: 'store', header: words.columns.store, cell: ({ external_id }) => <bdi>{external_id}</bdi> },
    { id: 'status', header: words.columns.status, cell: ({ status }) => <Status status={status} /> },
    { id: 'last', header: words.columns.last, cell: ({ last_event_at }) => time(last_event_at) },
  ]
}

const formWords = text.integrations.form

type Creation = operations['integration_sources.upsert']['requestBody']['content']['application/json']

const empty = { platform: '', external_id: '', name: '', url: '' }

function NewSource({ workspace, onClose }: { workspace: Workspace; onClose: () => void }) {
  const navigate = useNavigate()
  const invalidate = useInvalidate(workspace)
  const [draft, change, discard] = useDraft(workspace, 'source', empty)
  const [made, setMade] = useState<SourceSecrets>()
  const [existing, setExisting] = useState<string>()
  const action = useApiMutation(
    (body: Creation, key) =>
      unwrap(v1(workspace).POST('/v1/integration_sources', { body, headers: { 'Idempotency-Key': key } })),
    async (source) => {
      discard()
      if ('source_key' in source) setMade(source)
      else setExisting(source.id)
      await invalidate('integration_sources.')
    },
  )
  if (made !== undefined)
    return (
      <SecretDialog
        title={formWords.key}
        secret={made.source_key}
        also={{ label: formWords.signing, secret: made.signing_secret }}
        onStored={() => {
          onClose()
          void navigate({ to: pathTo(workspace, 'integrations', made.id) as never })
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
            {formWords.existed}{' '}
            <PathLink to={pathTo(workspace, 'integrations', existing)}>{text.integrations.one.facts}</PathLink>
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
        <TextField label={formWords.platform} hint={formWords.platformHint} {...field('platform')} required />
        <TextField label={formWords.store} hint={formWords.storeHint} {...field('external_id')} required />
        <TextField label={formWords.name} {...field('name')} />
        <TextField label={formWords.url} {...field('url')} />
        {problem !== undefined && <ProblemAlert problem={problem} />}
        <SuccessNotice>{children}</SuccessNotice>
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
            {formWords.create}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function bodyOf({ platform, external_id, name, url }: typeof empty): Creation {
  return {
    platform: platform.trim(),
    external_id: external_id.trim(),
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    ...(url.trim() === '' ? {} : { url: url.trim() }),
  }
}

export type Source = components['schemas']['IntegrationSource']

const sourcesMax = 100

export const useSources = (workspace: Workspace): UseQueryResult<{ data: Source[] }> =>
  useApiQuery(workspace, ['integration_sources.list', sourcesMax], () =>
    v1(workspace).GET('/v1/integration_sources', { params: { query: { limit: sourcesMax } } }),
  )

export interface SourceSecrets {
  readonly id: string
  readonly source_key: string
  readonly signing_secret: string
}
