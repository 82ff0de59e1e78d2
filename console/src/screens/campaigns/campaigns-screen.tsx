/** `campaigns`: what was and will be sent to many. */
import { useNavigate } from '@tanstack/react-router'
import { v1 } from '../../api/client.ts'
import { campaignStatuses } from '../../api/generated/tables.ts'
import { useBecause } from '../../api/may.ts'
import { listQuery, useRead } from '../../api/use-read.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { numberOf } from '../../parts/amounts.ts'
import { ApiButton } from '../../parts/api-button.tsx'
import { ChoiceField } from '../../parts/fields.tsx'
import { ListTable, type Column } from '../../parts/list-table.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Status } from '../../parts/status.tsx'
import { useTime } from '../../parts/times.ts'
import { useFilters } from '../../parts/use-filters.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo, type Place } from '../../paths.ts'
import { queryText } from '../../query.ts'
import { inWords, text } from '../../text/en.ts'
import type { Campaign } from './campaign.ts'

const { campaigns: words } = text

export function CampaignsScreen() {
  const place = usePlace()
  const navigate = useNavigate()
  const because = useBecause(place)('campaigns:write')
  const { query, isFiltered, set, clear } = useFilters(['status'])
  const campaigns = useRead(place, ['campaigns.list', query], () =>
    v1(place).GET('/v1/campaigns', { params: { query: listQuery(query) } }),
  )
  const columns = useColumns(place)
  const create = () => void navigate({ to: pathTo(place, 'campaigns', 'new') as never })
  return (
    <Screen
      title={text.screens.campaigns}
      mode={place.mode}
      actions={
        <>
          <ApiButton
            request={{
              operation: 'campaigns.list',
              method: 'GET',
              path: `/v1/campaigns${queryText({ ...query, limit: '50' })}`,
            }}
          />
          <ActionButton label={words.create} because={because} onPress={create} />
        </>
      }
    >
      <div className="filters">
        <ChoiceField
          label={words.status}
          any={words.any}
          choices={campaignStatuses.map((value) => ({ value, label: inWords(value) }))}
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
        emptyAction={because === undefined && <ActionButton label={words.first} variant="light" onPress={create} />}
      />
    </Screen>
  )
}

function useColumns(place: Place): Column<Campaign>[] {
  const time = useTime()
  return [
    {
      id: 'name',
      header: words.columns.name,
      cell: ({ id, name }) => (
        <PathLink to={pathTo(place, 'campaigns', id)}>
          <bdi>{name}</bdi>
        </PathLink>
      ),
    },
    { id: 'status', header: words.columns.status, cell: ({ status }) => <Status status={status} /> },
    { id: 'channel', header: words.columns.channel, cell: ({ channel_type }) => channel_type },
    {
      id: 'recipients',
      header: words.columns.recipients,
      cell: ({ counters, audience }) => numberOf(counters.total || (audience.recipients_count ?? 0)),
    },
    { id: 'sent', header: words.columns.sent, cell: ({ counters }) => numberOf(counters.sent) },
    { id: 'created', header: words.columns.created, cell: ({ created_at }) => time(created_at) },
  ]
}
