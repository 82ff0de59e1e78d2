/** The list of campaigns. */
import { useNavigate } from '@tanstack/react-router'
import { v1 } from '../../api/client.ts'
import { campaignStatuses } from '../../api/generated/tables.ts'
import { useDisabledReason } from '../../api/session.ts'
import { listQuery, useApiQuery } from '../../api/use-api-query.ts'
import { pathTo, type Workspace, queryText, useWorkspace } from '../../app/paths.ts'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Screen } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { ChoiceField } from '../../components/form/fields.tsx'
import { Status } from '../../components/format/facts.tsx'
import { formatNumber, useTimeFormat } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { useFilters } from '../../components/table/filters.tsx'
import { type Column, ListTable } from '../../components/table/list-table.tsx'
import { humanize, text } from '../../text/en.ts'
import type { Campaign } from './campaign-draft.ts'

const { campaigns: words } = text

export function CampaignsScreen() {
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const disabledReason = useDisabledReason(workspace)('campaigns:write')
  const { query, isFiltered, set, clear } = useFilters(['status'])
  const campaigns = useApiQuery(workspace, ['campaigns.list', query], () =>
    v1(workspace).GET('/v1/campaigns', { params: { query: listQuery(query) } }),
  )
  const columns = useColumns(workspace)
  const create = () => void navigate({ to: pathTo(workspace, 'campaigns', 'new') as never })
  return (
    <Screen
      title={text.screens.campaigns}
      mode={workspace.mode}
      actions={
        <>
          <ApiButton
            request={{
              operation: 'campaigns.list',
              method: 'GET',
              path: `/v1/campaigns${queryText({ ...query, limit: '50' })}`,
            }}
          />
          <ActionButton label={words.create} disabledReason={disabledReason} onPress={create} />
        </>
      }
    >
      <div className="filters">
        <ChoiceField
          label={words.status}
          any={words.any}
          choices={campaignStatuses.map((value) => ({ value, label: humanize(value) }))}
          value={query['status'] ?? ''}
          onChange={(status) => set('status', status)}
        />
      </div>
      <ListTable
        name={text.screens.campaigns}
        columns={columns}
        query={campaigns}
        isFiltered={isFiltered}
        onClearFilters={clear}
        empty={words.none}
        emptyAction={
          disabledReason === undefined && <ActionButton label={words.first} variant="light" onPress={create} />
        }
      />
    </Screen>
  )
}

function useColumns(workspace: Workspace): Column<Campaign>[] {
  const time = useTimeFormat()
  return [
    {
      id: 'name',
      header: words.columns.name,
      cell: ({ id, name }) => (
        <PathLink to={pathTo(workspace, 'campaigns', id)}>
          <bdi>{name}</bdi>
        </PathLink>
      ),
    },
    { id: 'status', header: words.columns.status, cell: ({ status }) => <Status status={status} /> },
    { id: 'channel', header: words.columns.channel, cell: ({ channel_type }) => channel_type },
    {
      id: 'recipients',
      header: words.columns.recipients,
      cell: ({ counters, audience }) => formatNumber(counters.total || (audience.recipients_count ?? 0)),
    },
    { id: 'sent', header: words.columns.sent, cell: ({ counters }) => formatNumber(counters.sent) },
    { id: 'created', header: words.columns.created, cell: ({ created_at }) => time(created_at) },
  ]
}
