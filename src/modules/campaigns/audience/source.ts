/** Whom an audience means, and as whom they may be written to. Told alike by the checks of a launch, by a rehearsal and by the snapshot. */
import type { Tenant } from '../../../api/caller.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { AudienceSource } from '../../contacts/service.ts'
import type { CampaignDeps } from '../deps.ts'
import type { CampaignRow } from '../rows.ts'
import { findKeptRules } from '../store.ts'

/** The contacts or the recipients that an audience means; `gone`: what it names is not there any more; `taken`: its snapshot was completed after the row was read. */
export type Source =
  | AudienceSource
  | { readonly kind: 'adhoc' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'taken' }

/** Whom the audience means: a segment by its rules of the moment when the snapshot began, or now where it has not. */
export async function sourceOf({ contacts }: CampaignDeps, sql: Db, row: CampaignRow): Promise<Source> {
  const { type, list_id, segment_id, tags, match } = row.audience
  if (type === 'adhoc') return { kind: 'adhoc' }
  if (type === 'tags') return contacts.taggedSource(tags!, match === 'all' ? 'all' : 'any')
  if (type === 'list')
    return (await contacts.lists.exists(sql, row, list_id!)) ? { kind: 'list', list_id: list_id! } : { kind: 'gone' }
  const began_at = row.snapshot_began_at
  const audience =
    began_at === null
      ? await contacts.segments.audience(sql, row, segment_id!)
      : await contacts.segments.audienceOfKept(
          sql,
          row,
          `snapshot ${row.id}`,
          () => findKeptRules(sql, row, row.id),
          Date.parse(began_at),
        )
  if (audience === null) return { kind: began_at === null ? 'gone' : 'taken' }
  return { kind: 'segment', where: audience.where }
}

/** Whether who has stopped marketing alone is not to be written to. */
export async function isMarketing(
  channels: CampaignDeps['channels'],
  row: Tenant & Pick<CampaignRow, 'channel_id' | 'message'>,
): Promise<boolean> {
  const channel = await channels.find(row, row.channel_id)
  return channel !== null && (await channels.isMarketing(channel, row.message.type, row.message[row.message.type]))
}
