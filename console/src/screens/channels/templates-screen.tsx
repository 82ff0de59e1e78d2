/** `templates`: those of a channel, which are made with its provider. */
import { v1 } from '../../api/client.ts'
import { problemOf } from '../../api/problem.ts'
import { useRead } from '../../api/use-read.ts'
import { ApiButton } from '../../parts/api-button.tsx'
import { ChoiceField } from '../../parts/fields.tsx'
import { ListTable, type Column } from '../../parts/list-table.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty, Waiting } from '../../parts/states.tsx'
import { useTime } from '../../parts/times.ts'
import { useFilters } from '../../parts/use-filters.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo, type Place } from '../../paths.ts'
import { text } from '../../text/en.ts'
import { hasTemplates, useChannels, type Channel, type Template } from './channel.ts'
import { TemplateStatus } from './template-status.tsx'

const words = text.channels.templates

export function TemplatesScreen() {
  const place = usePlace()
  const { query, set } = useFilters(['channel'])
  const channels = useChannels(place)
  const having = channels.data?.filter(hasTemplates)
  const channel = having?.find(({ id }) => id === query['channel']) ?? having?.[0]
  const isWaiting = having === undefined && channels.error === null
  const path = `/v1/channels/${channel?.id ?? '{id}'}/templates` as const
  return (
    <Screen
      title={text.screens.templates}
      mode={place.mode}
      actions={
        isWaiting ? undefined : <ApiButton request={{ operation: 'channels.list_templates', method: 'GET', path }} />
      }
    >
      {isWaiting && <Waiting />}
      {channels.error !== null && (
        <ProblemAlert problem={problemOf(channels.error)} onAgain={() => void channels.refetch()} />
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
        <Empty
          why={words.noChannel}
          action={<PathLink to={pathTo(place, 'channels')}>{text.screens.channels}</PathLink>}
        />
      )}
      {channel !== undefined && <TemplatesTable place={place} channel={channel} />}
    </Screen>
  )
}

function TemplatesTable({ place, channel }: { place: Place; channel: Channel }) {
  const templates = useRead(place, ['channels.list_templates', channel.id, 'page'], () =>
    v1(place).GET('/v1/channels/{id}/templates', { params: { path: { id: channel.id } } }),
  )
  const columns = useColumns(place, channel)
  return <ListTable name={text.screens.templates} columns={columns} query={templates} empty={words.none} />
}

function useColumns(place: Place, channel: Channel): Column<Template>[] {
  const time = useTime()
  return [
    {
      id: 'name',
      header: words.columns.name,
      cell: ({ id, name }) => <PathLink to={pathTo(place, 'templates', channel.id, id)}>{name}</PathLink>,
    },
    { id: 'language', header: words.columns.language, cell: ({ language }) => language },
    { id: 'category', header: words.columns.category, cell: ({ category }) => category },
    { id: 'status', header: words.columns.status, cell: ({ status }) => <TemplateStatus status={status} /> },
    { id: 'updated', header: words.columns.updated, cell: ({ updated_at }) => time(updated_at) },
  ]
}
