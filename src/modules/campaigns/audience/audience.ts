/** Audiences: validation, size, and the contacts or recipients in them. */
import type { Tenant } from '../../../api/caller.ts'
import type { Detail } from '../../../api/errors.ts'
import { isId } from '../../../api/ids.ts'
import { missing, type Problem } from '../../../api/problem.ts'
import type { Audience, AudienceRequest, AudienceType } from '../../../api/resources/campaign.ts'
import type { AdhocRecipients, CampaignRow } from '../campaign.ts'
import type { CampaignDeps } from '../deps.ts'
import { findSegmentRules } from '../repository.ts'
import { type AudienceSource, type ContactService, readTags } from '../../contacts/service.ts'
import type { Db } from '../../../platform/database/sql.ts'

const requiredFieldOf: Readonly<Record<AudienceType, 'segment_id' | 'list_id' | 'tags' | 'recipients'>> = {
  segment: 'segment_id',
  list: 'list_id',
  tags: 'tags',
  adhoc: 'recipients',
}

export function audienceFailures(audience: unknown): Detail[] {
  if (typeof audience !== 'object' || audience === null) return []
  const { type, tags } = audience as Partial<AudienceRequest>
  if (type === undefined || !Object.hasOwn(requiredFieldOf, type)) return []
  const wanted = requiredFieldOf[type as AudienceType]
  if (((audience as AudienceRequest)[wanted] ?? null) === null)
    return [
      {
        param: `audience.${wanted}`,
        code: 'missing_field',
        message: `An audience of type \`${type}\` needs \`${wanted}\`.`,
      },
    ]
  const failures: Detail[] = []
  if (type === 'tags' && Array.isArray(tags) && tags.every((tag) => typeof tag === 'string'))
    readTags('audience.tags', tags, failures)
  return failures
}

/** Without ad-hoc recipients, which are stored separately. */
export function storedAudience(request: AudienceRequest): { audience: Audience; adhoc: AdhocRecipients | null } {
  const type = request.type as AudienceType
  if (type === 'segment') return { audience: { type, segment_id: request.segment_id! }, adhoc: null }
  if (type === 'list') return { audience: { type, list_id: request.list_id! }, adhoc: null }
  if (type === 'tags')
    return {
      audience: {
        type,
        tags: readTags('audience.tags', request.tags!, []),
        match: request.match === 'all' ? 'all' : 'any',
      },
      adhoc: null,
    }
  const adhoc = request.recipients!
  return {
    audience: { type, recipients_count: adhoc.length, save_as_contacts: request.save_as_contacts ?? false },
    adhoc,
  }
}

export interface AudienceDeps {
  readonly contacts: ContactService
}

/** 404 `resource_missing`. */
export async function requireAudience(
  { contacts }: AudienceDeps,
  sql: Db,
  tenant: Tenant,
  audience: Audience,
): Promise<void> {
  const { list_id, segment_id } = audience
  if (list_id !== undefined && !(isId('lst', list_id) && (await contacts.lists.exists(sql, tenant, list_id))))
    throw missingAudience(audience)
  if (
    segment_id !== undefined &&
    !(isId('seg', segment_id) && (await contacts.segments.exists(sql, tenant, segment_id)))
  )
    throw missingAudience(audience)
}

export const missingAudience = ({ list_id, segment_id }: Audience): Problem =>
  list_id === undefined
    ? missing('segment', segment_id ?? '', 'audience.segment_id')
    : missing('contact list', list_id, 'audience.list_id')

/** Counted up to `most`; null for a segment, which is evaluated when sending starts. */
export async function audienceSize(
  { contacts }: AudienceDeps,
  sql: Db,
  tenant: Tenant,
  audience: Audience,
  most: number,
): Promise<number | null> {
  await requireAudience({ contacts }, sql, tenant, audience)
  switch (audience.type as AudienceType) {
    case 'segment':
      return null
    case 'list':
      return (await contacts.lists.get(sql, tenant, audience.list_id!)).contacts_count
    case 'tags':
      return await contacts.countTagged(sql, tenant, audience.tags!, audience.match === 'all' ? 'all' : 'any', most)
    case 'adhoc':
      return audience.recipients_count!
  }
}

/** `missing`: the list or segment was deleted. `completed`: the snapshot was completed after the row was read. */
export type ResolvedAudience =
  | AudienceSource
  | { readonly kind: 'adhoc' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'completed' }

export async function resolveAudience(
  { contacts }: CampaignDeps,
  sql: Db,
  row: CampaignRow,
): Promise<ResolvedAudience> {
  const { type, list_id, segment_id, tags, match } = row.audience
  if (type === 'adhoc') return { kind: 'adhoc' }
  if (type === 'tags') return contacts.tagAudience(tags!, match === 'all' ? 'all' : 'any')
  if (type === 'list')
    return (await contacts.lists.exists(sql, row, list_id!)) ? { kind: 'list', list_id: list_id! } : { kind: 'missing' }
  const began_at = row.snapshot_began_at
  const audience =
    began_at === null
      ? await contacts.segments.audience(sql, row, segment_id!)
      : await contacts.segments.audienceOfStoredRules(
          sql,
          row,
          `snapshot ${row.id}`,
          () => findSegmentRules(sql, row, row.id),
          Date.parse(began_at),
        )
  if (audience === null) return { kind: began_at === null ? 'missing' : 'completed' }
  return { kind: 'segment', where: audience.where }
}

export async function isMarketing(
  channels: CampaignDeps['channels'],
  row: Tenant & Pick<CampaignRow, 'channel_id' | 'message'>,
): Promise<boolean> {
  const channel = await channels.find(row, row.channel_id)
  return channel !== null && (await channels.isMarketing(channel, row.message.type, row.message[row.message.type]))
}
