/** Our copy of the templates of providers: read at connecting, when the provider tells of a change and every ten minutes; looked up for every template message. */
import { tenantOf } from '../../api/caller.ts'
import { Problem } from '../../api/problem.ts'
import type { Template } from '../../api/resources/channel.ts'
import { isoTime, withDeadline } from '../../lib/clock.ts'
import { lookupCache } from '../../lib/lookup-cache.ts'
import type { Worker } from '../../platform/jobs/worker.ts'
import { storable } from '../../lib/storable.ts'
import { limits } from '../../api/limits.ts'
import { transact, type Db } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Connection, TemplateRecord } from '../../providers/provider.ts'
import type { Adapters } from './adapters.ts'
import type { ChannelCache } from './channel-cache.ts'
import { connectTimeoutMs } from './connecting.ts'
import { templateObject } from './present.ts'
import type { ChannelRow } from './store.ts'
import { isMarketing, refusalOf, statusOf, type TemplateContent } from './template-check.ts'
import * as store from './templates-store.ts'
import type { TemplateRow } from './templates-store.ts'
import { isTestChannel, testTemplates } from './test-channels.ts'

const readEveryMs = 10 * 60_000
const readAgainMs = 60_000
const readTimeoutMs = 60_000
const readAtOnce = 10
/** Asking the provider keeps a send waiting. */
const askTimeoutMs = 5000
/** A name that the provider was asked for is not asked for again so soon. */
const askAgainMs = 10_000
/** How often the provider of one channel is asked for templates by name in a minute, by each process. */
const asksMax = 30
/** Of these, how many may be gone when a name is asked for that was asked for within the minute: the rest is for others. */
const repeatsMax = asksMax / 2
const minuteMs = 60_000
const rememberedMax = 10_000
/** Of a template's name, as content has it, and of what else it is found by. */
const nameLengthMax = 512

export interface TemplateDeps {
  readonly platform: Platform
  readonly adapters: Adapters
  readonly cache: Pick<ChannelCache, 'connection'>
}

export type ChannelTemplates = ReturnType<typeof channelTemplates>

/** What of a template message is known beforehand: why it is refused, if it is, and whether it is marketing. */
export interface TemplateVerdict {
  readonly refusal: Problem | null
  readonly marketing: boolean
  /** As the provider has it; null where it has none, or is not known to us. */
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
  const asking = asker(deps)
  /** When the templates of a channel were last to be read because of a refusal, by the elapsed time. */
  const refused = new Map<string, number>()

  async function ofName(row: ChannelRow, name: string): Promise<readonly TemplateRow[]> {
    const key = `${row.id}|${name}`
    return await (cache.get(key) ??
      cache.read(key, () => store.findTemplates(platform.pool, tenantOf(row), row.id, name)))
  }

  /** The verdict once the provider was asked, or else by our copy. */
  async function asked(row: ChannelRow, written: TemplateContent, repeat: Repeat): Promise<TemplateVerdict> {
    const answer = await asking(row, written.name, repeat)
    if (answer === 'asked') cache.forget(`${row.id}|${written.name}`)
    const rows = await ofName(row, written.name)
    const told = toldOf(rows, written)
    // that our copy lacks one says nothing where the provider was not asked for it
    const isUntold = told.status === null && answer !== 'asked' && answer !== 'known'
    return {
      refusal: isUntold ? notLookedUp(written, answer, platform.clock.elapsed()) : refusalOf(row.id, rows, written),
      ...told,
    }
  }

  /**
   * Looks a template message's template up, in memory first. `ask`: one that our copy lacks, or has as unfit, is asked for before it is refused. Templates
   * of test mode go on as they are.
   */
  async function verdictOf(row: ChannelRow, content: unknown, ask: boolean): Promise<TemplateVerdict> {
    const written = content as TemplateContent
    if (isTestChannel(row)) return { ...unknownTemplate, marketing: isMarketing(testTemplates(row.type), written) }
    if (adapters.adapterOf(row.provider)?.listTemplates === undefined) return unknownTemplate
    const rows = await ofName(row, written.name)
    const refusal = refusalOf(row.id, rows, written)
    if (refusal === null || !ask) return { refusal, ...toldOf(rows, written) }
    return await asked(row, written, 'not_again_so_soon')
  }

  /** They are read by the worker, as soon as this is committed. */
  async function readSoon(sql: Db, row: ChannelRow): Promise<void> {
    await store.setTemplatesDue(sql, tenantOf(row), row.id, isoTime(platform.clock.now()))
    platform.notify(worker.name)
  }

  return {
    worker,
    forget: (): void => cache.forget(),
    /** In one page: of a live channel from our copy, of a sandbox channel its samples. */
    async list(sql: Db, row: ChannelRow): Promise<Template[]> {
      const records = isTestChannel(row)
        ? testTemplates(row.type)
        : await store.listTemplates(sql, tenantOf(row), row.id)
      return records.map((record) => templateObject(row, record))
    },
    readSoon,
    /** As `readSoon`, unless a refusal has led to that just now. */
    async readAfterRefusal(sql: Db, row: ChannelRow): Promise<void> {
      const now = platform.clock.elapsed()
      if (now - (refused.get(row.id) ?? -Infinity) < askAgainMs) return
      if (refused.size >= rememberedMax) refused.clear()
      refused.set(row.id, now)
      await readSoon(sql, row)
    },
    verdictOf,
    /** As `verdictOf`, but the provider is asked whatever our copy says; that counts only where it cannot be asked. For what is looked up seldom and sent often. */
    verdictAsked: (row: ChannelRow, content: TemplateContent): Promise<TemplateVerdict> =>
      isTestChannel(row) || adapters.adapterOf(row.provider)?.listTemplates === undefined
        ? verdictOf(row, content, false)
        : asked(row, content, 'again'),
  }
}

const toldOf = (rows: readonly TemplateRow[], written: TemplateContent) => ({
  marketing: isMarketing(rows, written),
  status: statusOf(rows, written),
})

/** Why the provider was not asked for a template that our copy lacks. */
function notLookedUp({ name, language }: TemplateContent, why: 'unreachable' | 'too_often', now: number): Problem {
  const lacking = `The template ${JSON.stringify(name)} (${JSON.stringify(language.code)}) is not in our copy, and the provider`
  if (why === 'unreachable')
    return new Problem('upstream_unavailable', `${lacking} could not be asked for it. Try again with backoff.`)
  const seconds = Math.ceil((minuteMs - (now % minuteMs)) / 1000)
  return new Problem(
    'upstream_unavailable',
    `${lacking} was asked for templates of this channel as often as it may be in a minute. Repeat after the ${seconds} seconds of Retry-After.`,
    { headers: { 'retry-after': String(seconds) } },
  )
}

/** Whether a name that the provider was asked for just now is asked for again. */
type Repeat = 'again' | 'not_again_so_soon'

/** `known`: it was not asked now, but within the last minute, so our copy has what it answered. */
type Asked = 'asked' | 'known' | 'unreachable' | 'too_often'

/** Asks providers for single templates and writes what they answer. What is asked at once is asked together (behaviour: channels 6.3, 6.5). */
function asker(deps: TemplateDeps) {
  const { platform } = deps
  const underWay = new Map<string, Promise<'asked' | 'unreachable'>>()
  const asked = new Map<string, number>()
  const counts = new Map<string, { minute: number; asks: number }>()

  /** Counts a question; null: it may be asked. */
  function whyNotAsked(channel_id: string, key: string, repeat: Repeat): 'known' | 'too_often' | null {
    const now = platform.clock.elapsed()
    const age = now - (asked.get(key) ?? -Infinity)
    if (repeat === 'not_again_so_soon' && age < askAgainMs) return 'known'
    const minute = Math.floor(now / minuteMs)
    const count = counts.get(channel_id)
    const asks = count?.minute === minute ? count.asks : 0
    const isKnown = age < minuteMs
    if (asks >= (isKnown && repeat === 'not_again_so_soon' ? repeatsMax : asksMax))
      return isKnown ? 'known' : 'too_often'
    if (counts.size >= rememberedMax) counts.clear()
    counts.set(channel_id, { minute, asks: asks + 1 })
    return null
  }

  async function askNow(row: ChannelRow, name: string, key: string): Promise<'asked' | 'unreachable'> {
    try {
      const records = await withDeadline(platform.clock, askTimeoutMs, (signal) => read(deps, row, signal, name))
      await writeNamed(deps, row, name, records)
      if (asked.size >= rememberedMax) asked.clear()
      asked.set(key, platform.clock.elapsed())
      return 'asked'
    } catch (error) {
      platform.log.warn(
        { err: error, channel_id: row.id, template: name },
        'the provider could not be asked for a template',
      )
      return 'unreachable'
    }
  }

  return async (row: ChannelRow, name: string, repeat: Repeat): Promise<Asked> => {
    const key = `${row.id}|${name}`
    const already = underWay.get(key)
    if (already !== undefined) return await already
    const whyNot = whyNotAsked(row.id, key, repeat)
    if (whyNot !== null) return whyNot
    const work = askNow(row, name, key).finally(() => underWay.delete(key))
    underWay.set(key, work)
    return await work
  }
}

/** Writes what the provider answered of one name: those that it has no more are gone. */
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

/** As they are written: a template that the provider tells twice stands once, and one that nobody can name is left out. */
function rowsOf({ ids, clock }: Pick<Platform, 'ids' | 'clock'>, records: readonly TemplateRecord[]): TemplateRow[] {
  const at = isoTime(clock.now())
  const sane = records.map((record) => storable(record, limits.json_depth) as TemplateRecord)
  const nameable = sane.filter(({ provider_id, name, language }) =>
    [provider_id, name, language].every((text) => text !== '' && text.length <= nameLengthMax),
  )
  const byId = new Map(nameable.map((record) => [record.provider_id, record]))
  return [...byId.values()].map((record) => ({ ...record, id: ids('tpl'), updated_at: record.updated_at ?? at }))
}

/** The templates that a channel begins with; null where its provider has none. Problem: upstream_unavailable. */
export async function firstTemplates(
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

/** Writes what a channel begins with. */
export async function keepFirstTemplates(
  tx: Db,
  platform: Pick<Platform, 'ids' | 'clock'>,
  row: ChannelRow,
  records: readonly TemplateRecord[],
): Promise<void> {
  const now = platform.clock.now()
  await replaceTemplates(tx, platform, row, records, isoTime(now))
  await store.setTemplatesDue(tx, tenantOf(row), row.id, nextReading(now))
}

/** When the templates of a channel that was read just now are read next. */
const nextReading = (now: number): string => isoTime(now + readEveryMs)

/** Writes all templates of a channel, as they were from `began_at` on; true where anything changed. */
async function replaceTemplates(
  tx: Db,
  platform: Pick<Platform, 'ids' | 'clock'>,
  row: ChannelRow,
  records: readonly TemplateRecord[],
  began_at: string,
): Promise<boolean> {
  const tenant = tenantOf(row)
  if (!(await store.beginReplacing(tx, tenant, row.id, began_at))) return false
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

/** The worker `templates`: reads those that are due. */
function templatesWorker(deps: TemplateDeps): Worker {
  const { platform } = deps
  return {
    name: 'templates',
    idle_ms: 1000,
    async tick() {
      const now = platform.clock.now()
      const due = await store.claimTemplatesDue(platform.pool, isoTime(now), nextReading(now), readAtOnce)
      const changed = await Promise.all(due.map((row) => readDue(deps, row)))
      if (changed.some(Boolean)) platform.notify('forget-channels')
      return due.length
    },
  }
}

async function readDue(deps: TemplateDeps, row: ChannelRow): Promise<boolean> {
  const { platform } = deps
  const began_at = isoTime(platform.clock.now())
  try {
    const records = await withDeadline(platform.clock, readTimeoutMs, (signal) => read(deps, row, signal))
    return await transact(platform.pool, (tx) => replaceTemplates(tx, platform, row, records, began_at))
  } catch (error) {
    platform.log.warn(
      { err: error, channel_id: row.id },
      'the templates of a channel could not be read; they are read again',
    )
    await store.setTemplatesDue(platform.pool, tenantOf(row), row.id, isoTime(platform.clock.now() + readAgainMs))
    return false
  }
}
