/** The templates of a channel, and one template. */
import { SimpleGrid } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { problemOf, v1 } from '../../api/client.ts'
import { useApiQuery } from '../../api/use-api-query.ts'
import { pathTo, type Workspace, useWorkspace } from '../../app/paths.ts'
import { TemplateBubble } from '../../components/content/template-bubble.tsx'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { EmptyState, NotFound, Screen, LoadingIndicator } from '../../components/feedback/screen.tsx'
import { ChoiceField } from '../../components/form/fields.tsx'
import { DescriptionList, StatusLabel, type StatusKind, Region } from '../../components/format/facts.tsx'
import { useTimeFormat } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { useFilters } from '../../components/table/filters.tsx'
import { type Column, ListTable } from '../../components/table/list-table.tsx'
import { text } from '../../text/en.ts'
import { type Channel, hasTemplates, type Template, useChannels, useTemplates } from './channel.tsx'

const words = text.channels.templates

export function TemplatesScreen() {
  const workspace = useWorkspace()
  const { query, set } = useFilters(['channel'])
  const channels = useChannels(workspace)
  const having = channels.data?.filter(hasTemplates)
  const channel = having?.find(({ id }) => id === query['channel']) ?? having?.[0]
  const isWaiting = having === undefined && channels.error === null
  const path = `/v1/channels/${channel?.id ?? '{id}'}/templates` as const
  return (
    <Screen
      title={text.screens.templates}
      mode={workspace.mode}
      actions={
        isWaiting ? undefined : <ApiButton request={{ operation: 'channels.list_templates', method: 'GET', path }} />
      }
    >
      {isWaiting && <LoadingIndicator />}
      {channels.error !== null && (
        <ProblemAlert problem={problemOf(channels.error)} onRetry={() => void channels.refetch()} />
      )}
      {having !== undefined && (
        <div className="filters">
          <ChoiceField
            label={words.channel}
            value={channel?.id ?? ''}
            onChange={(id) => set('channel', id)}
            choices={having.map(({ id, name }) => ({ value: id, label: name }))}
          />
        </div>
      )}
      {having !== undefined && channel === undefined && (
        <EmptyState
          why={words.noChannel}
          action={<PathLink to={pathTo(workspace, 'channels')}>{text.screens.channels}</PathLink>}
        />
      )}
      {channel !== undefined && <TemplatesTable workspace={workspace} channel={channel} />}
    </Screen>
  )
}

function TemplatesTable({ workspace, channel }: { workspace: Workspace; channel: Channel }) {
  const templates = useApiQuery(workspace, ['channels.list_templates', channel.id, 'page'], () =>
    v1(workspace).GET('/v1/channels/{id}/templates', { params: { path: { id: channel.id } } }),
  )
  const columns = useColumns(workspace, channel)
  return <ListTable name={text.screens.templates} columns={columns} query={templates} empty={words.none} />
}

function useColumns(workspace: Workspace, channel: Channel): Column<Template>[] {
  const time = useTimeFormat()
  return [
    {
      id: 'name',
      header: words.columns.name,
      cell: ({ id, name }) => <PathLink to={pathTo(workspace, 'templates', channel.id, id)}>{name}</PathLink>,
    },
    { id: 'language', header: words.columns.language, cell: ({ language }) => language },
    { id: 'category', header: words.columns.category, cell: ({ category }) => category },
    { id: 'status', header: words.columns.status, cell: ({ status }) => <TemplateStatus status={status} /> },
    { id: 'updated', header: words.columns.updated, cell: ({ updated_at }) => time(updated_at) },
  ]
}

export function TemplateScreen() {
  const workspace = useWorkspace()
  const time = useTimeFormat()
  const { channel, id } = useParams({ strict: false }) as { channel: string; id: string }
  const { data, error, refetch } = useTemplates(workspace, channel)
  const template = data?.find((one) => one.id === id)
  if (data === undefined && error === null) return <LoadingIndicator />
  if (data === undefined && problemOf(error).code !== 'resource_missing')
    return <ProblemAlert problem={problemOf(error)} onRetry={() => void refetch()} />
  if (template === undefined) return <NotFound />
  return (
    <Screen
      title={template.name}
      mode={workspace.mode}
      actions={
        <ApiButton
          request={{ operation: 'channels.list_templates', method: 'GET', path: `/v1/channels/${channel}/templates` }}
        />
      }
    >
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Region title={words.preview}>
          <TemplateBubble template={template} />
        </Region>
        <Region title={words.facts}>
          <DescriptionList
            of={[
              [words.columns.status, <TemplateStatus key="status" status={template.status} />],
              [words.reason, template.rejected_reason],
              [words.columns.language, template.language],
              [words.columns.category, template.category],
              [words.columns.updated, time(template.updated_at)],
              [
                words.channel,
                <PathLink key="channel" to={pathTo(workspace, 'channels', channel)}>
                  {channel}
                </PathLink>,
              ],
            ]}
          />
        </Region>
      </SimpleGrid>
    </Screen>
  )
}

const kinds: Readonly<Record<string, StatusKind>> = { APPROVED: 'good', PENDING: 'busy', REJECTED: 'bad' }

const TemplateStatus = ({ status }: { status: string }) => (
  <StatusLabel kind={kinds[status] ?? 'off'}>{status}</StatusLabel>
)
