/** `templates`: those of a channel, which are made with its provider. */
import { SimpleGrid } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { problemOf, v1 } from '../../api/client.ts'
import { useRead } from '../../api/use-api-query.ts'
import { pathTo, type Place, usePlace } from '../../app/paths.ts'
import { TemplateBubble } from '../../components/content/template-bubble.tsx'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Empty, NotFound, Screen, Waiting } from '../../components/feedback/screen.tsx'
import { ChoiceField } from '../../components/form/fields.tsx'
import { Facts, Mark, type MarkKind, Region } from '../../components/format/facts.tsx'
import { useTime } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { useFilters } from '../../components/table/filters.tsx'
import { type Column, ListTable } from '../../components/table/list-table.tsx'
import { text } from '../../text/en.ts'
import { type Channel, hasTemplates, type Template, useChannels, useTemplates } from './channel.tsx'

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

/** `templates/{channel}/{id}`: a template as a phone shows it. */
export function TemplateScreen() {
  const place = usePlace()
  const time = useTime()
  const { channel, id } = useParams({ strict: false }) as { channel: string; id: string }
  const { data, error, refetch } = useTemplates(place, channel)
  const template = data?.find((one) => one.id === id)
  if (data === undefined && error === null) return <Waiting />
  if (data === undefined && problemOf(error).code !== 'resource_missing')
    return <ProblemAlert problem={problemOf(error)} onAgain={() => void refetch()} />
  if (template === undefined) return <NotFound />
  return (
    <Screen
      title={template.name}
      mode={place.mode}
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
          <Facts
            of={[
              [words.columns.status, <TemplateStatus key="status" status={template.status} />],
              [words.reason, template.rejected_reason],
              [words.columns.language, template.language],
              [words.columns.category, template.category],
              [words.columns.updated, time(template.updated_at)],
              [
                words.channel,
                <PathLink key="channel" to={pathTo(place, 'channels', channel)}>
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

const kinds: Readonly<Record<string, MarkKind>> = { APPROVED: 'good', PENDING: 'busy', REJECTED: 'bad' }

/** The provider's word for a template, in its colour. */
const TemplateStatus = ({ status }: { status: string }) => <Mark kind={kinds[status] ?? 'off'}>{status}</Mark>
