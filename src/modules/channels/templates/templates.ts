/**
 * Copies of the providers' templates, for checking template messages. Refreshed every ten minutes and after changes.
 */
import { tenantOf } from '../../../api/caller.ts'
import { Problem } from '../../../api/problem.ts'
import type { Template } from '../../../api/resources/channel.ts'
import { isoTime, withDeadline } from '../../../lib/clock.ts'
import { lookupCache } from '../../../lib/lookup-cache.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'
import { storable } from '../../../lib/json.ts'
import { limits } from '../../../api/limits.ts'
import { transact, type Db } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Connection, TemplateRecord } from '../../../providers/provider.ts'
import type { Adapters } from '../adapters.ts'
import type { ChannelCache } from '../lookup.ts'
import { connectTimeoutMs } from '../credentials.ts'
import type { ChannelRow } from '../channel.ts'
import { isMarketing, refusalOf, statusOf, type TemplateContent } from './validation.ts'
import * as store from './repository.ts'
import type { TemplateRow } from './repository.ts'
import { isTestChannel, testTemplates } from '../test-channels.ts'

const refreshEveryMs = 10 * 60_000
const refreshRetryMs = 60_000
const readTimeoutMs = 60_000
const refreshedAtOnce = 10
/** Short, because a send request waits for it. */
const lookupTimeoutMs = 5000
/** Per name. */
const lookupAgainMs = 10_000
/** Per channel, minute and process. */
const lookupsMax = 30
/** For a name looked up within the last minute, so that others get theirs. */
const repeatsMax = lookupsMax / 2
const minuteMs = 60_000
const rememberedMax = 10_000
const nameLengthMax = 512

export interface TemplateDeps {
  readonly platform: Platform
  readonly adapters: Adapters
  readonly cache: Pick<ChannelCache, 'connection'>
}

export type ChannelTemplates = ReturnType<typeof channelTemplates>

export interface TemplateVerdict {
  readonly refusal: Problem | null
  readonly marketing: boolean
  /** null if the template is unknown. */
  readonly status: string | null
}

const unknownTemplate: TemplateVerdict = { refusal: null, marketing: false, status: null }

export function channelTemplates(deps: TemplateDeps) {
  const { platform, adapters } = deps
  const worker = templatesWorker(deps)
  const cache = lookupCache<readonly TemplateRow[]>(platform.clock, {
    entries_max: rememberedMax,
    age_max_ms: limits.cache_ms,
  })
  const lookup = templateLookups(deps)

  async function ofName(row: ChannelRow, name: string): Promise<readonly TemplateRow[]> {
    const key = `${row.id}|${name}`
    return await (cache.get(key) ??
      cache.read(key, () => store.findTemplates(platform.pool, tenantOf(row), row.id, name)))
  }

  async function freshVerdict(row: ChannelRow, written: TemplateContent, repeat: Repeat): Promise<TemplateVerdict> {
    const answer = await lookup(row, written.name, repeat)
    if (answer === 'asked') cache.forget(`${row.id}|${written.name}`)
    const rows = await ofName(row, written.name)
    const copy = copyOf(rows, written)
    // a template missing in the copy proves nothing if the provider was not asked
    const isUnchecked = copy.status === null && answer !== 'asked' && answer !== 'known'
    return {
      refusal: isUnchecked ? notLookedUp(written, answer, platform.clock.elapsed()) : refusalOf(row.id, rows, written),
      ...copy,
    }
  }

  /** `ask`: looks the template up at the provider before the copy refuses it. In test mode everything passes. */
  async function verdictOf(row: ChannelRow, content: unknown, ask: boolean): Promise<TemplateVerdict> {
    const written = content as TemplateContent
    if (isTestChannel(row)) return { ...unknownTemplate, marketing: isMarketing(testTemplates(row.type), written) }
    if (adapters.adapterOf(row.provider)?.listTemplates === undefined) return unknownTemplate
    const rows = await ofName(row, written.name)
    const refusal = refusalOf(row.id, rows, written)
    if (refusal === null || !ask) return { refusal, ...copyOf(rows, written) }
    return await freshVerdict(row, written, 'not_again_so_soon')
  }

  return {
    worker,
    forget: (): void => cache.forget(),
    async list(sql: Db, row: ChannelRow): Promise<Template[]> {
      const records = isTestChannel(row)
        ? testTemplates(row.type)
        : await store.listTemplates(sql, tenantOf(row), row.id)
      return records.map((record) => templateObject(row, record))
    },
    ...refreshRequests(platform, worker.name),
    verdictOf,
    verdictAsked: (row: ChannelRow, content: TemplateContent): Promise<TemplateVerdict> =>
      isTestChannel(row) || adapters.adapterOf(row.provider)?.listTemplates === undefined
        ? verdictOf(row, content, false)
        : freshVerdict(row, content, 'again'),
  }
}

function refreshRequests(platform: Platform, workerName: string) {
  /** Elapsed ms by channel. */
  const refreshedAfterRefusal = new Map<string, number>()

  async function refreshSoon(sql: Db, row: ChannelRow): Promise<void> {
    await store.scheduleRefresh(sql, tenantOf(row), row.id, isoTime(platform.clock.now()))
    platform.notify(workerName)
  }

  return {
    refreshSoon,
    async refreshAfterRefusal(sql: Db, row: ChannelRow): Promise<void> {
      const now = platform.clock.elapsed()
      if (now - (refreshedAfterRefusal.get(row.id) ?? -Infinity) < lookupAgainMs) return
      if (refreshedAfterRefusal.size >= rememberedMax) refreshedAfterRefusal.clear()
      refreshedAfterRefusal.set(row.id, now)
      await refreshSoon(sql, row)
    },
  }
}

const copyOf = (rows: readonly TemplateRow[], written: TemplateContent) => ({
  marketing: isMarketing(rows, written),
  status: statusOf(rows, written),
})

function notLookedUp({ name, language }: TemplateContent, why: 'unreachable' | 'too_often', now: number): Problem {
  const lacking = `The template ${JSON.stringify(name)} (${JSON.stringify(language.code)}) is unknown, and the provider`
  if (why === 'unreachable')
    return new Problem('upstream_unavailable', `${lacking} could not be asked for it. Try again with backoff.`)
  const seconds = Math.ceil((minuteMs - (now % minuteMs)) / 1000)
  return new Problem(
    'upstream_unavailable',
    `${lacking} was asked for templates of this channel as often as it may be in a minute. Repeat after the ${seconds} seconds of Retry-After.`,
    { headers: { 'retry-after': String(seconds) } },
  )
}

type Repeat = 'again' | 'not_again_so_soon'

/** `known`: looked up within the last minute, so the copy is current. */
type LookupResult = 'asked' | 'known' | 'unreachable' | 'too_often'

/** Simultaneous lookups of a name share one request (behaviour: channels 6.3, 6.5). */
function templateLookups(deps: TemplateDeps) {
  const { platform } = deps
  const pending = new Map<string, Promise<'asked' | 'unreachable'>>()
  const lookedUpAt = new Map<string, number>()
  const counts = new Map<string, { minute: number; asks: number }>()

  function whyNotAllowed(channel_id: string, key: string, repeat: Repeat): 'known' | 'too_often' | null {
    const now = platform.clock.elapsed()
    const age = now - (lookedUpAt.get(key) ?? -Infinity)
    if (repeat === 'not_again_so_soon' && age < lookupAgainMs) return 'known'
    const minute = Math.floor(now / minuteMs)
    const count = counts.get(channel_id)
    const asks = count?.minute === minute ? count.asks : 0
    const isKnown = age < minuteMs
    if (asks >= (isKnown && repeat === 'not_again_so_soon' ? repeatsMax : lookupsMax))
      return isKnown ? 'known' : 'too_often'
    if (counts.size >= rememberedMax) counts.clear()
    counts.set(channel_id, { minute, asks: asks + 1 })
    return null
  }

  async function askNow(row: ChannelRow, name: string, key: string): Promise<'asked' | 'unreachable'> {
    try {
      const records = await withDeadline(platform.clock, lookupTimeoutMs, (signal) => read(deps, row, signal, name))
      await writeNamed(deps, row, name, records)
      if (lookedUpAt.size >= rememberedMax) lookedUpAt.clear()
      lookedUpAt.set(key, platform.clock.elapsed())
      return 'asked'
    } catch (error) {
      platform.log.warn(
        { err: error, channel_id: row.id, template: name },
        'a template could not be looked up at the provider',
      )
      return 'unreachable'
    }
  }

  return async (row: ChannelRow, name: string, repeat: Repeat): Promise<LookupResult> => {
    const key = `${row.id}|${name}`
    const already = pending.get(key)
    if (already !== undefined) return await already
    const whyNot = whyNotAllowed(row.id, key, repeat)
    if (whyNot !== null) return whyNot
    const work = askNow(row, name, key).finally(() => pending.delete(key))
    pending.set(key, work)
    return await work
  }
}

async function writeNamed(
  { platform }: TemplateDeps,
  row: ChannelRow,
  name: string,
  records: readonly TemplateRecord[],
): Promise<void> {
  const rows = rowsOf(platform, records)
  const provider_ids = rows.map(({ provider_id }) => provider_id)
  await transact(platform.pool, async (tx) => {
    await store.upsertTemplates(tx, tenantOf(row), row.id, rows)
    await store.deleteTemplatesOfName(tx, tenantOf(row), row.id, name, provider_ids)
  })
}

const read = async (
  { adapters, cache }: TemplateDeps,
  row: ChannelRow,
  signal: AbortSignal,
  name?: string,
): Promise<readonly TemplateRecord[]> =>
  (await adapters.adapterOf(row.provider)?.listTemplates?.(cache.connection(row), signal, name)) ?? []

/** Drops duplicates and templates that no message can name. */
function rowsOf({ ids, clock }: Pick<Platform, 'ids' | 'clock'>, records: readonly TemplateRecord[]): TemplateRow[] {
  const at = isoTime(clock.now())
  const sane = records.map((record) => storable(record, limits.json_depth) as TemplateRecord)
  const nameable = sane.filter(({ provider_id, name, language }) =>
    [provider_id, name, language].every((text) => text !== '' && text.length <= nameLengthMax),
  )
  const byId = new Map(nameable.map((record) => [record.provider_id, record]))
  return [...byId.values()].map((record) => ({ ...record, id: ids('tpl'), updated_at: record.updated_at ?? at }))
}

/** null if the provider has no templates. Problem: upstream_unavailable. */
export async function initialTemplates(
  { platform, adapters }: Pick<TemplateDeps, 'platform' | 'adapters'>,
  provider: string,
  connection: Connection,
): Promise<readonly TemplateRecord[] | null> {
  const adapter = adapters.adapterOf(provider)
  if (adapter?.listTemplates === undefined) return null
  try {
    return await withDeadline(
      platform.clock,
      connectTimeoutMs,
      async (signal) => await adapter.listTemplates!(connection, signal),
    )
  } catch (error) {
    platform.log.warn({ err: error, provider }, 'the templates of a new channel could not be read')
    throw new Problem(
      'upstream_unavailable',
      `The templates of the channel could not be read, so nothing was created: ${(error as Error).message} Try again with backoff.`,
    )
  }
}

export async function storeInitialTemplates(
  tx: Db,
  platform: Pick<Platform, 'ids' | 'clock'>,
  row: ChannelRow,
  records: readonly TemplateRecord[],
): Promise<void> {
  const now = platform.clock.now()
  await replaceTemplates(tx, platform, row, records, isoTime(now))
  await store.scheduleRefresh(tx, tenantOf(row), row.id, nextReading(now))
}

const nextReading = (now: number): string => isoTime(now + refreshEveryMs)

/** Resolves to whether anything changed. */
async function replaceTemplates(
  tx: Db,
  platform: Pick<Platform, 'ids' | 'clock'>,
  row: ChannelRow,
  records: readonly TemplateRecord[],
  began_at: string,
): Promise<boolean> {
  const tenant = tenantOf(row)
  if (!(await store.lockForReplacing(tx, tenant, row.id, began_at))) return false
  const rows = rowsOf(platform, records)
  const written = await store.upsertTemplates(tx, tenant, row.id, rows)
  const removed = await store.deleteTemplatesBut(
    tx,
    tenant,
    row.id,
    rows.map(({ provider_id }) => provider_id),
  )
  return written + removed > 0
}

function templatesWorker(deps: TemplateDeps): Worker {
  const { platform } = deps
  return {
    name: 'templates',
    poll_every_ms: 1000,
    async tick() {
      const now = platform.clock.now()
      const due = await store.claimRefreshes(platform.pool, isoTime(now), nextReading(now), refreshedAtOnce)
      const changed = await Promise.all(due.map((row) => refreshTemplates(deps, row)))
      if (changed.some(Boolean)) platform.notify('forget-channels')
      return due.length
    },
  }
}

async function refreshTemplates(deps: TemplateDeps, row: ChannelRow): Promise<boolean> {
  const { platform } = deps
  const began_at = isoTime(platform.clock.now())
  try {
    const records = await withDeadline(platform.clock, readTimeoutMs, (signal) => read(deps, row, signal))
    return await transact(platform.pool, (tx) => replaceTemplates(tx, platform, row, records, began_at))
  } catch (error) {
    platform.log.warn(
      { err: error, channel_id: row.id },
      'the templates of a channel could not be read; they are read again in a minute',
    )
    await store.scheduleRefresh(platform.pool, tenantOf(row), row.id, isoTime(platform.clock.now() + refreshRetryMs))
    return false
  }
}

const templateObject = (row: Pick<ChannelRow, 'id'>, record: TemplateRow): Template => ({
  id: record.id,
  object: 'template',
  channel_id: row.id,
  name: record.name,
  language: record.language,
  category: record.category,
  status: record.status,
  parameter_format: record.parameter_format,
  components: record.components.map((component) => ({ ...component })),
  rejected_reason: record.rejected_reason,
  updated_at: record.updated_at,
})
