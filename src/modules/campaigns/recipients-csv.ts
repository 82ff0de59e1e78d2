/** The recipients of a campaign as CSV: all that fit the filters of the list, in the order of the snapshot (behaviour: campaigns 4). */
import type { Readable } from 'node:stream'
import type { Tenant } from '../../api/caller.ts'
import type { Db } from '../../platform/database/sql.ts'
import { csvStream, pageWaitMs, type CsvColumn, type CsvPage } from '../contacts/service.ts'
import type { CampaignDeps } from './deps.ts'
import { existing } from './reading.ts'
import { listRecipients, type RecipientFilters } from './recipient-store.ts'
import type { CampaignRow, RecipientRow } from './rows.ts'

const rowsPerPage = 1000

/** Each page is an expensive read of its own, so that a slow client holds no connection. `gone` aborts when nobody reads any more. */
export async function recipientsCsv(
  { platform }: CampaignDeps,
  tenant: Tenant,
  id: string,
  filters: RecipientFilters,
  gone: AbortSignal,
): Promise<Readable> {
  const request = { account_id: tenant.account_id, gone, narrow: 'Ask for fewer recipients, by `status` or `to`.' }
  const pageAfter = async (sql: Db, row: CampaignRow, after: number): Promise<CsvPage<RecipientRow>> => {
    const found = await listRecipients(sql, row, filters, { after, limit: rowsPerPage })
    const rows = found.slice(0, rowsPerPage)
    const last = rows.at(-1)?.n ?? after
    const next = () => platform.reads.run({ ...request, wait_ms: pageWaitMs }, (own) => pageAfter(own, row, last))
    return { rows, next: found.length > rowsPerPage ? next : null }
  }
  const first = await platform.reads.run(request, async (sql) => {
    const row = await existing(sql, tenant, id)
    return row.snapshot_at === null ? { rows: [], next: null } : await pageAfter(sql, row, 0)
  })
  return csvStream(columns, first)
}

const times = ['sent_at', 'delivered_at', 'read_at', 'failed_at'] as const

const columns: readonly CsvColumn<RecipientRow>[] = [
  { name: 'id', cell: (row) => String(row.n) },
  { name: 'contact_id', cell: (row) => row.contact_id ?? '' },
  { name: 'to', cell: (row) => row.to },
  { name: 'name', cell: (row) => row.name ?? '' },
  { name: 'status', cell: (row) => row.status },
  { name: 'skip_reason', cell: (row) => row.skip_reason ?? '' },
  { name: 'message_id', cell: (row) => row.message_id ?? '' },
  { name: 'error_code', cell: (row) => row.error?.code ?? '' },
  { name: 'error_message', cell: (row) => row.error?.message ?? '' },
  { name: 'provider_code', cell: (row) => row.error?.provider_code ?? '' },
  { name: 'variables', cell: (row) => JSON.stringify(row.variables ?? {}) },
  ...times.map((name): CsvColumn<RecipientRow> => ({ name, cell: (row) => row[name] ?? '' })),
]
