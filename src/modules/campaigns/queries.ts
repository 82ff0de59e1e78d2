/** Reads campaigns and their recipients as JSON and CSV, and counts replies. */
import type { Readable } from 'node:stream'
import type { Tenant } from '../../api/caller.ts'
import { isId } from '../../api/ids.ts'
import { invalid, missing } from '../../api/problem.ts'
import type { CampaignResponses } from '../../api/resources/campaign-responses.ts'
import type { Campaign, CampaignRecipient, CampaignStatus } from '../../api/resources/campaign.ts'
import {
  type AdhocRecipients,
  campaignObject,
  type CampaignRow,
  recipientObject,
  type RecipientRow,
} from './campaign.ts'
import { findTotals, noTotals } from './counter-repository.ts'
import type { CampaignDeps } from './deps.ts'
import * as recipientRepository from './recipient-repository.ts'
import { recipientsWhoReplied, type RecipientFilters } from './recipient-repository.ts'
import * as repository from './repository.ts'
import { addressKeyOf, type CsvColumn, type CsvPage, csvStream, pageWaitMs } from '../contacts/service.ts'
import { listInbound } from '../messages/service.ts'
import { inOneSnapshot, type Db, type Transaction } from '../../platform/database/sql.ts'
import { type Page, requireCursor } from '../../platform/http/paging.ts'

export async function requireCampaign(sql: Db, tenant: Tenant, id: string): Promise<CampaignRow> {
  const row = isId('cmp', id) ? await repository.findCampaign(sql, tenant, id) : null
  if (row === null) throw missing('campaign', id)
  return row
}

export async function lockCampaignOrThrow(tx: Transaction, tenant: Tenant, id: string): Promise<CampaignRow> {
  const row = isId('cmp', id) ? await repository.lockCampaign(tx, tenant, id) : null
  if (row === null) throw missing('campaign', id)
  return row
}

export async function getCampaign(sql: Db, tenant: Tenant, id: string): Promise<Campaign> {
  return await inOneSnapshot(sql, async (tx) => await campaignWithRecipients(tx, await requireCampaign(tx, tenant, id)))
}

export async function listCampaigns(
  sql: Db,
  tenant: Tenant,
  status: CampaignStatus | undefined,
  page: Page,
): Promise<Campaign[]> {
  await requireCursor(
    page.starting_after,
    'No campaign has the id',
    async (id) => isId('cmp', id) && (await repository.campaignExisted(sql, tenant, id)),
  )
  return await inOneSnapshot(
    sql,
    async (tx) => await campaignObjects(tx, tenant, await repository.listCampaigns(tx, tenant, status, page)),
  )
}

export async function campaignObjects(sql: Db, tenant: Tenant, rows: readonly CampaignRow[]): Promise<Campaign[]> {
  const counted = rows.filter(({ snapshot_at }) => snapshot_at !== null).map(({ id }) => id)
  const totals = await findTotals(sql, tenant, counted)
  return rows.map((row) => campaignObject(row, totals.get(row.id) ?? noTotals))
}

export async function campaignWithRecipients(
  sql: Db,
  row: CampaignRow,
  adhoc?: AdhocRecipients | null,
): Promise<Campaign> {
  const [shown] = await campaignObjects(sql, row, [row])
  if (row.audience.type !== 'adhoc') return shown!
  const recipients = adhoc ?? (await repository.findAdhocRecipients(sql, row, row.id)) ?? []
  return { ...shown!, audience: { ...shown!.audience, recipients: [...recipients] } }
}

/** In snapshot order; empty before the snapshot is complete. */
export async function listRecipients(
  sql: Db,
  tenant: Tenant,
  id: string,
  filters: RecipientFilters,
  page: Page,
): Promise<CampaignRecipient[]> {
  const row = await requireCampaign(sql, tenant, id)
  const after =
    page.starting_after === undefined
      ? 0
      : /^[1-9]\d{0,8}$/.test(page.starting_after)
        ? Number(page.starting_after)
        : Infinity
  if (after > (row.snapshot_at === null ? 0 : row.snapshot_rows))
    throw invalid(
      'starting_after',
      'invalid_value',
      'No recipient of this campaign has the id given in starting_after. Use the next_cursor of the page before.',
    )
  if (row.snapshot_at === null) return []
  return (await recipientRepository.listRecipients(sql, row, filters, { after, limit: page.limit })).map(
    recipientObject,
  )
}

const answeredWithinMs = 7 * 86_400_000
const inboundMax = 20_000

export async function campaignResponses(
  { platform, contacts }: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  id: string,
): Promise<CampaignResponses> {
  const { channel_id, channel_type, started_at, completed_at } = await requireCampaign(sql, tenant, id)
  const answer = { object: 'campaign_responses', campaign_id: id } as const
  if (started_at === null) return { ...answer, replies: 0, opt_outs: 0, complete: true }
  const ended_ms = completed_at === null ? platform.clock.now() : Date.parse(completed_at)
  const window = {
    account_id: tenant.account_id,
    mode: tenant.mode,
    channel_id,
    since_ms: Date.parse(started_at),
    until_ms: ended_ms + answeredWithinMs,
  }
  const inbound = await listInbound(sql, window, inboundMax + 1)
  const examined = inbound
    .slice(0, inboundMax)
    .map((row) => ({ ...row, address: addressKeyOf(channel_type, row.from).address }))
  const wrote = await recipientsWhoReplied(sql, tenant, id, examined, answeredWithinMs)
  const by = new Map(wrote.map(({ n, message_id }) => [message_id, n]))
  const optedOut = await contacts.optOutsBy(
    sql,
    tenant,
    examined.flatMap(({ id: message_id, contact_id }) =>
      contact_id === null || !by.has(message_id) ? [] : [{ contact_id, message_id }],
    ),
  )
  return {
    ...answer,
    replies: new Set(by.values()).size,
    opt_outs: new Set([...optedOut].map((message_id) => by.get(message_id))).size,
    complete: inbound.length <= inboundMax,
  }
}

const rowsPerPage = 1000

/**
 * Each page is a read of its own, so that a slow client holds no connection (behaviour: campaigns 4). `gone` aborts
 * when the client disconnects.
 */
export async function recipientsCsv(
  { platform }: CampaignDeps,
  tenant: Tenant,
  id: string,
  filters: RecipientFilters,
  gone: AbortSignal,
): Promise<Readable> {
  const request = { account_id: tenant.account_id, gone, narrow: 'Ask for fewer recipients, by `status` or `to`.' }
  const pageAfter = async (sql: Db, row: CampaignRow, after: number): Promise<CsvPage<RecipientRow>> => {
    const found = await recipientRepository.listRecipients(sql, row, filters, { after, limit: rowsPerPage })
    const rows = found.slice(0, rowsPerPage)
    const last = rows.at(-1)?.n ?? after
    const next = () => platform.reads.run({ ...request, wait_ms: pageWaitMs }, (own) => pageAfter(own, row, last))
    return { rows, next: found.length > rowsPerPage ? next : null }
  }
  const first = await platform.reads.run(request, async (sql) => {
    const row = await requireCampaign(sql, tenant, id)
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
