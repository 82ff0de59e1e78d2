/** Prepaid packages, and what a message costs beyond them. */
import { v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useRead } from '../../api/use-read.ts'
import { dollarsOf, numberOf } from '../../parts/amounts.ts'
import { RowsTable, type Column } from '../../parts/list-table.tsx'
import { useTime } from '../../parts/times.ts'
import { usePlace } from '../../parts/use-place.ts'
import { inWords, text } from '../../text/en.ts'

type Package = components['schemas']['Package']

function usePackageColumns(): Column<Package>[] {
  const time = useTime()
  const words = text.billing.packageColumns
  return [
    { id: 'name', header: words.name, cell: ({ name }) => <bdi>{name}</bdi> },
    {
      id: 'channels',
      header: words.channels,
      cell: ({ channel_types }) =>
        channel_types.length === 0 ? text.billing.anyChannel : channel_types.map(inWords).join(', '),
    },
    { id: 'left', header: words.left, cell: ({ credits_remaining }) => numberOf(credits_remaining) },
    { id: 'of', header: words.of, cell: ({ credits_total }) => numberOf(credits_total) },
    { id: 'status', header: words.status, cell: ({ status }) => inWords(status) },
    { id: 'expires', header: words.expires, cell: ({ expires_at }) => time(expires_at) },
  ]
}

export function Packages() {
  const place = usePlace()
  const columns = usePackageColumns()
  const balance = useRead(place, ['balance.retrieve'], () => v1(place).GET('/v1/balance'))
  return <RowsTable name={text.billing.packages} rows={balance.data?.packages ?? []} columns={columns} />
}

export function Prices() {
  const place = usePlace()
  const prices = useRead(place, ['prices.list'], () =>
    v1(place).GET('/v1/prices', { params: { query: { limit: 100 } } }),
  )
  const words = text.billing.priceColumns
  return (
    <RowsTable
      name={text.billing.prices}
      rows={(prices.data?.data ?? []).map((price) => ({ ...price, id: price.channel_type }))}
      columns={[
        { id: 'channel', header: words.channel, cell: ({ channel_type }) => inWords(channel_type) },
        { id: 'unit', header: words.unit, cell: ({ unit }) => inWords(unit) },
        { id: 'amount', header: words.amount, cell: ({ amount_micros }) => dollarsOf(amount_micros) },
      ]}
    />
  )
}
