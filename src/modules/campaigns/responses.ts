/** Who answered a campaign, and who opted out by that: what came in on its channel, held against its recipients. */
import type { Tenant } from '../../api/caller.ts'
import type { CampaignResponses } from '../../api/resources/campaign-responses.ts'
import type { Db } from '../../platform/database/sql.ts'
import { addressKeyOf } from '../contacts/service.ts'
import { listInbound } from '../messages/service.ts'
import type { CampaignDeps } from './deps.ts'
import { existing } from './reading.ts'
import { recipientsWhoWrote } from './recipient-store.ts'

/** What comes later than this after a message answers something else. */
const answeredWithinMs = 7 * 86_400_000
/** Messages that are looked at for one campaign. */
const inboundMax = 20_000

/** 404 `resource_missing` when there is none. A draft has no answers. */
export async function campaignResponses(
  { platform, contacts }: CampaignDeps,
  sql: Db,
  tenant: Tenant,
  id: string,
): Promise<CampaignResponses> {
  const { channel_id, channel_type, started_at, completed_at } = await existing(sql, tenant, id)
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
  const looked = inbound
    .slice(0, inboundMax)
    .map((row) => ({ ...row, address: addressKeyOf(channel_type, row.from).address }))
  const wrote = await recipientsWhoWrote(sql, tenant, id, looked, answeredWithinMs)
  const by = new Map(wrote.map(({ n, message_id }) => [message_id, n]))
  const left = await contacts.optOutsBy(
    sql,
    tenant,
    looked.flatMap(({ id: message_id, contact_id }) =>
      contact_id === null || !by.has(message_id) ? [] : [{ contact_id, message_id }],
    ),
  )
  return {
    ...answer,
    replies: new Set(by.values()).size,
    opt_outs: new Set([...left].map((message_id) => by.get(message_id))).size,
    complete: inbound.length <= inboundMax,
  }
}
