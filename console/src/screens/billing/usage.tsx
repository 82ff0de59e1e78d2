/** What was sent in the last thirty days, and what it came to. */
import { Text } from '@mantine/core'
import { useState } from 'react'
import { v1 } from '../../api/client.ts'
import { problemOf } from '../../api/problem.ts'
import { useRead } from '../../api/use-read.ts'
import { dollarsOf, numberOf } from '../../parts/amounts.ts'
import { Region } from '../../parts/facts.tsx'
import { RowsTable } from '../../parts/list-table.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { usePlace } from '../../parts/use-place.ts'
import { inWords, text } from '../../text/en.ts'

const periodMs = 30 * 24 * 3600_000
/** Days as the API takes them. */
const dayOf = (instant: number): string => new Date(instant).toISOString().slice(0, 10)

export function UsageRegion() {
  const place = usePlace()
  const [period] = useState(() => ({ from: dayOf(Date.now() - periodMs), to: dayOf(Date.now() + 24 * 3600_000) }))
  const usage = useRead(place, ['usage.retrieve', period], () =>
    v1(place).GET('/v1/usage', { params: { query: { ...period, group_by: 'channel_type', limit: 100 } } }),
  )
  const words = text.billing
  const rows = (usage.data?.data ?? []).filter(
    ({ messages, refunded_micros, refunded_credits }) => messages + refunded_micros + refunded_credits > 0,
  )
  return (
    <Region title={words.usage}>
      <Text size="sm" c="dimmed">
        {words.usageWhy}
      </Text>
      {usage.data !== undefined && rows.length === 0 && <Text size="sm">{words.noUsage}</Text>}
      {rows.length > 0 && (
        <RowsTable
          name={words.usage}
          rows={rows.map((row) => ({ ...row, id: row.channel_type ?? '' }))}
          columns={[
            {
              id: 'kind',
              header: words.usageColumns.kind,
              cell: ({ channel_type }) => (channel_type === null ? words.anyChannel : inWords(channel_type)),
            },
            { id: 'messages', header: words.usageColumns.messages, cell: ({ messages }) => numberOf(messages) },
            {
              id: 'credits',
              header: words.usageColumns.credits,
              cell: ({ package_credits }) => numberOf(package_credits),
            },
            { id: 'wallet', header: words.usageColumns.wallet, cell: ({ wallet_micros }) => dollarsOf(wallet_micros) },
            {
              id: 'refunded',
              header: words.usageColumns.refunded,
              cell: ({ refunded_micros }) => dollarsOf(refunded_micros),
            },
          ]}
        />
      )}
      {usage.isError && <ProblemAlert problem={problemOf(usage.error)} onAgain={() => void usage.refetch()} />}
    </Region>
  )
}
