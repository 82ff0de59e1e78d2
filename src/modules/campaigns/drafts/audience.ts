/** Who gets a campaign: the variants of an audience, what must hold of each, and how many they are. */
import type { Tenant } from '../../../api/caller.ts'
import type { Detail } from '../../../api/errors.ts'
import { isId } from '../../../api/ids.ts'
import { missing, type Problem } from '../../../api/problem.ts'
import type { Audience, AudienceRequest, AudienceType } from '../../../api/resources/campaign.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { readTags, type ContactService } from '../../contacts/service.ts'
import type { AdhocRecipients } from '../rows.ts'

/** The field that each variant wants. */
const wantedOf: Readonly<Record<AudienceType, 'segment_id' | 'list_id' | 'tags' | 'recipients'>> = {
  segment: 'segment_id',
  list: 'list_id',
  tags: 'tags',
  adhoc: 'recipients',
}

/** What a schema cannot say about an audience; `audience` may be of any shape. */
export function audienceFailures(audience: unknown): Detail[] {
  if (typeof audience !== 'object' || audience === null) return []
  const { type, tags } = audience as Partial<AudienceRequest>
  if (type === undefined || !Object.hasOwn(wantedOf, type)) return []
  const wanted = wantedOf[type as AudienceType]
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

/** An audience as it is kept: the fields of its variant alone, with the recipients of an ad-hoc one apart. Tags are written as contacts have them. */
export function keptAudience(request: AudienceRequest): { audience: Audience; adhoc: AdhocRecipients | null } {
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

/** 404 `resource_missing` where the audience names a list or a segment that there is not. */
export async function requireAudience(
  { contacts }: AudienceDeps,
  sql: Db,
  tenant: Tenant,
  audience: Audience,
): Promise<void> {
  const { list_id, segment_id } = audience
  if (list_id !== undefined && !(isId('lst', list_id) && (await contacts.lists.exists(sql, tenant, list_id))))
    throw goneAudience(audience)
  if (
    segment_id !== undefined &&
    !(isId('seg', segment_id) && (await contacts.segments.exists(sql, tenant, segment_id)))
  )
    throw goneAudience(audience)
}

/** What refuses an audience whose list or segment there is not. */
export const goneAudience = ({ list_id, segment_id }: Audience): Problem =>
  list_id === undefined
    ? missing('segment', segment_id ?? '', 'audience.segment_id')
    : missing('contact list', list_id, 'audience.list_id')

/** How many people are in the audience now, counted no further than `most`; null for a segment, which is looked up when sending starts. 404 as `requireAudience`. */
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
