/** Segments: rules are checked when saved and evaluated on every use (behaviour: segments 1). */
import type { Caller, Tenant } from '../../../api/caller.ts'
import type { Detail } from '../../../api/errors.ts'
import { isId } from '../../../api/ids.ts'
import { missing, throwFailures } from '../../../api/problem.ts'
import { channelTypes } from '../../../api/resources/channel.ts'
import type { RulesPreview, Segment, SegmentPreview } from '../../../api/resources/segment.ts'
import { isoTime } from '../../../lib/clock.ts'
import { transact, type Db, type Transaction } from '../../../platform/database/sql.ts'
import { requireCursor, type Page } from '../../../platform/http/paging.ts'
import type { Platform } from '../../../platform/platform.ts'
import { idExisted, insertTombstone } from '../repository.ts'
import { audienceOfRules, audienceOfSegment, type Audience } from './audience.ts'
import type { SegmentRow } from './repository.ts'
import { parseRules, rulesFailures, type ListMention, type ParsedRules } from './rules.ts'
import { storedRulesOf, rulesOf } from './rules-cache.ts'
import * as repository from './repository.ts'

export interface SegmentBody {
  readonly name?: string
  readonly description?: string | null
  readonly rules?: Record<string, unknown>
}

export type SegmentService = ReturnType<typeof segmentService>

export const segmentService = (platform: Platform) => ({
  create: (sql: Db, tenant: Tenant, body: NewSegment): Promise<Segment> => createSegment(platform, sql, tenant, body),
  list: listSegments,
  get: async (sql: Db, tenant: Tenant, id: string): Promise<Segment> =>
    segmentObject(await requireSegment(sql, tenant, id)),
  exists: async (sql: Db, tenant: Tenant, id: string): Promise<boolean> =>
    (await repository.findSegment(sql, tenant, id)) !== null,
  /** Lists already in the rules stay allowed after their deletion. */
  update: (sql: Db, tenant: Tenant, id: string, body: SegmentBody): Promise<Segment> =>
    updateSegment(platform, sql, tenant, id, body),
  remove: removeSegment,
  /** Exact, at one moment. */
  preview: (sql: Db, caller: Caller, id: string): Promise<SegmentPreview> => previewSegment(platform, sql, caller, id),
  previewRules: (sql: Db, caller: Caller, rules: Record<string, unknown>): Promise<RulesPreview> =>
    previewRules(platform, sql, caller, rules),
  audience: (sql: Db, tenant: Tenant, id: string): Promise<Audience | null> =>
    audienceOfSegment(platform, sql, tenant, id),
  rules: async (sql: Db, tenant: Tenant, id: string): Promise<string | null> =>
    isId('seg', id) ? ((await repository.findVersioned(sql, tenant, id))?.rules ?? null) : null,
  async audienceOfStoredRules(
    sql: Db,
    tenant: Tenant,
    key: string,
    read: () => Promise<string | null>,
    now: number,
  ): Promise<Audience | null> {
    const rules = await storedRulesOf(key, read)
    return rules === null ? null : await audienceOfRules(sql, tenant, rules, now)
  },
  /** After `after` ('' first); fewer than `limit` are the last page. null when the segment does not exist. */
  async segmentMembers(sql: Db, tenant: Tenant, id: string, after: string, limit: number): Promise<string[] | null> {
    const audience = await audienceOfSegment(platform, sql, tenant, id)
    return audience === null
      ? null
      : await transact(sql, (tx) => repository.pageOfMembers(tx, tenant, audience.where(tx), after, limit))
  },
})

type NewSegment = SegmentBody & { name: string; rules: Record<string, unknown> }

async function createSegment({ clock, ids }: Platform, sql: Db, caller: Tenant, body: NewSegment): Promise<Segment> {
  throwFailures(segmentFailures(body))
  await refuseUnknownLists(sql, caller, parseRules(body.rules).lists, [])
  const at = isoTime(clock.now())
  const { account_id, mode } = caller
  const row: SegmentRow = {
    account_id,
    mode,
    id: ids('seg'),
    name: body.name.trim(),
    description: (body.description ?? '').trim(),
    rules: body.rules,
    created_at: at,
    updated_at: at,
  }
  await repository.insertSegment(sql, row)
  return segmentObject(row)
}

async function listSegments(sql: Db, caller: Tenant, page: Page): Promise<Segment[]> {
  const existed = async (id: string) =>
    (await repository.findSegment(sql, caller, id)) !== null || (await idExisted(sql, caller, id))
  await requireCursor(
    page.starting_after,
    'No segment has the id',
    async (id) => isId('seg', id) && (await existed(id)),
  )
  return (await repository.listSegments(sql, caller, page)).map(segmentObject)
}

async function updateSegment(
  { clock }: Platform,
  sql: Db,
  caller: Tenant,
  id: string,
  body: SegmentBody,
): Promise<Segment> {
  throwFailures(segmentFailures(body))
  const parsed = body.rules === undefined ? undefined : parseRules(body.rules)
  return await transact(sql, async (tx) => {
    const row = isId('seg', id) ? await repository.lockSegment(tx, caller, id) : null
    if (row === null) throw missing('segment', id)
    if (parsed !== undefined) await refuseUnknownLists(tx, caller, parsed.lists, parseRules(row.rules).lists)
    const next: SegmentRow = {
      ...row,
      name: body.name?.trim() ?? row.name,
      description: body.description === undefined ? row.description : (body.description ?? '').trim(),
      rules: body.rules ?? row.rules,
      updated_at: isoTime(clock.now()),
    }
    await repository.updateSegment(tx, next)
    return segmentObject(next)
  })
}

async function removeSegment(
  sql: Db,
  caller: Tenant,
  id: string,
): Promise<{ id: string; object: 'segment'; deleted: true }> {
  await transact(sql, async (tx) => {
    if (!isId('seg', id) || !(await repository.deleteSegment(tx, caller, id))) throw missing('segment', id)
    await insertTombstone(tx, caller, id, false)
  })
  return { id, object: 'segment', deleted: true }
}

async function previewSegment({ clock }: Platform, sql: Db, caller: Caller, id: string): Promise<SegmentPreview> {
  const now = clock.now()
  const { count, reachable } = await transact(sql, async (tx) => {
    const rules = await rulesOf(tx, caller, id)
    if (rules === null) throw missing('segment', id)
    return await countMatching(tx, caller, rules, now)
  })
  return { object: 'segment_preview', segment_id: id, count, reachable, evaluated_at: isoTime(now) }
}

async function previewRules(
  { clock }: Platform,
  sql: Db,
  caller: Caller,
  input: Record<string, unknown>,
): Promise<RulesPreview> {
  throwFailures(rulesFailures(input))
  const now = clock.now()
  const rules = parseRules(input)
  const { count, reachable } = await transact(sql, async (tx) => {
    await refuseUnknownLists(tx, caller, rules.lists, [])
    return await countMatching(tx, caller, rules, now)
  })
  return { object: 'segment_preview', segment_id: null, count, reachable, evaluated_at: isoTime(now) }
}

async function countMatching(tx: Transaction, caller: Caller, rules: ParsedRules, now: number) {
  const audience = await audienceOfRules(tx, caller, rules, now)
  return await audience.withNarrowingHint(() => repository.countContacts(tx, caller, audience.where(tx), channelTypes))
}

async function requireSegment(sql: Db, tenant: Tenant, id: string): Promise<SegmentRow> {
  const row = isId('seg', id) ? await repository.findSegment(sql, tenant, id) : null
  if (row === null) throw missing('segment', id)
  return row
}

async function refuseUnknownLists(
  sql: Db,
  tenant: Tenant,
  mentions: readonly ListMention[],
  before: readonly ListMention[],
): Promise<void> {
  const allowed = new Set(before.map((mention) => mention.list_id))
  const unchecked = mentions.filter((mention) => !allowed.has(mention.list_id))
  const known = await repository.findExistingLists(
    sql,
    tenant,
    unchecked.map((mention) => mention.list_id),
  )
  const unknown = unchecked.find((mention) => !known.has(mention.list_id))
  if (unknown !== undefined) throw missing('contact list', unknown.list_id, unknown.param)
}

export function segmentFailures({ name, rules }: SegmentBody): Detail[] {
  const blank: Detail[] =
    name?.trim() === ''
      ? [{ param: 'name', code: 'too_short', message: 'The name is blank. Give the segment a name.' }]
      : []
  return rules === undefined ? blank : [...blank, ...rulesFailures(rules)]
}

function segmentObject(row: SegmentRow): Segment {
  const { id, mode, name, description, created_at, updated_at } = row
  return { id, object: 'segment', mode, name, description, rules: row.rules, created_at, updated_at }
}
