/** How campaigns are read: one, and pages of them, each with what its recipients have come to at this moment. */
import type { Tenant } from '../../api/caller.ts'
import { isId } from '../../api/ids.ts'
import { invalid, missing } from '../../api/problem.ts'
import type { Campaign, CampaignRecipient, CampaignStatus } from '../../api/resources/campaign.ts'
import { atOneMoment, type Db, type Transaction } from '../../platform/database/sql.ts'
import { requireCursor, type Page } from '../../platform/http/paging.ts'
import { noTotals, findTotals } from './counter-store.ts'
import { campaignObject, recipientObject } from './present.ts'
import * as recipientStore from './recipient-store.ts'
import type { AdhocRecipients, CampaignRow } from './rows.ts'
import * as store from './store.ts'

/** 404 `resource_missing` when there is none. */
export async function existing(sql: Db, tenant: Tenant, id: string): Promise<CampaignRow> {
  const row = isId('cmp', id) ? await store.findCampaign(sql, tenant, id) : null
  if (row === null) throw missing('campaign', id)
  return row
}

/** As `existing`, locked until the transaction ends. */
export async function existingLocked(tx: Transaction, tenant: Tenant, id: string): Promise<CampaignRow> {
  const row = isId('cmp', id) ? await store.lockCampaign(tx, tenant, id) : null
  if (row === null) throw missing('campaign', id)
  return row
}

/** With the recipients of an ad-hoc audience. */
export async function getCampaign(sql: Db, tenant: Tenant, id: string): Promise<Campaign> {
  return await atOneMoment(sql, async (tx) => await withRecipients(tx, await existing(tx, tenant, id)))
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
    async (id) => isId('cmp', id) && (await store.campaignExisted(sql, tenant, id)),
  )
  return await atOneMoment(
    sql,
    async (tx) => await withoutRecipients(tx, tenant, await store.listCampaigns(tx, tenant, status, page)),
  )
}

/** Campaigns as lists and events show them: without the recipients of ad-hoc audiences. Counters are 0 before the snapshot is complete. */
export async function withoutRecipients(sql: Db, tenant: Tenant, rows: readonly CampaignRow[]): Promise<Campaign[]> {
  const counted = rows.filter(({ snapshot_at }) => snapshot_at !== null).map(({ id }) => id)
  const totals = await findTotals(sql, tenant, counted)
  return rows.map((row) => campaignObject(row, totals.get(row.id) ?? noTotals))
}

/** A campaign as it is answered: with the recipients of an ad-hoc audience. */
export async function withRecipients(sql: Db, row: CampaignRow, adhoc?: AdhocRecipients | null): Promise<Campaign> {
  const [shown] = await withoutRecipients(sql, row, [row])
  if (row.audience.type !== 'adhoc') return shown!
  const recipients = adhoc ?? (await store.findAdhocRecipients(sql, row, row.id)) ?? []
  return { ...shown!, audience: { ...shown!.audience, recipients: [...recipients] } }
}

/** A page of recipients in the order of the snapshot, with one more than asked; none before the snapshot is complete. */
export async function listRecipients(
  sql: Db,
  tenant: Tenant,
  id: string,
  filters: recipientStore.RecipientFilters,
  page: Page,
): Promise<CampaignRecipient[]> {
  const row = await existing(sql, tenant, id)
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
  return (await recipientStore.listRecipients(sql, row, filters, { after, limit: page.limit })).map(recipientObject)
}
