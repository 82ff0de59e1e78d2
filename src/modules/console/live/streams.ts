/** Event streams of open consoles. One feed reader per process serves them all (behaviour: console 8). */
import { Readable } from 'node:stream'
import type { Mode, Tenant } from '../../../api/caller.ts'
import { eventTypes } from '../../../api/events.ts'
import { Problem } from '../../../api/problem.ts'
import type { Scope } from '../../../api/scopes.ts'
import { idFloor } from '../../../lib/ids.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { AccountService } from '../../accounts/service.ts'
import type { FeedPlace, FeedService, FollowedEvent } from '../../webhooks/feed/service.ts'
import { type ChangeRow, listChanges } from '../request-log/repository.ts'
import { type Role, scopesOf } from '../roles.ts'
import type { Sessions } from '../sign-in/sessions.ts'

const everyMs = 250
const checkEveryMs = 3_000
const beatEveryMs = 15_000
/** With more events in a run, consoles get one `reset`. */
const eventsMax = 500
const resetEveryMs = 1_000
const streamsMax = 2_000
/** Per process, like `streamsMax`. */
const ofSessionMax = 10
const ofAccountMax = 100
const bufferedBytesMax = 64 * 1024
const opening = 'retry: 2000\n\n'

export interface Listener extends Tenant {
  readonly cookie_hash: string
  readonly role: Role
  /** `Last-Event-ID`; undefined starts with new events. */
  readonly last_id: string | undefined
}

interface Stream extends Listener {
  readonly out: Readable
  readonly types: ReadonlySet<string>
}

interface Followed {
  readonly tenant: Tenant
  readonly streams: Set<Stream>
  place: FeedPlace
  last_id: string | null
  needsReset: boolean
  resetAt: number
}

export interface StreamsParts {
  readonly platform: Platform
  readonly accounts: AccountService
  readonly feed: FeedService
  readonly sessions: Sessions
}

export class Streams {
  readonly #parts: StreamsParts
  readonly #joining = new Set<Stream>()
  readonly #feeds = new Map<string, Followed>()
  readonly #all = new Set<Stream>()
  readonly #changes: Changes
  #checkedAt: number
  #beatAt: number
  #closed = false
  readonly worker: Worker = { name: 'console-streams', poll_every_ms: everyMs, tick: () => this.#tick() }

  constructor(parts: StreamsParts) {
    this.#parts = parts
    this.#changes = new Changes(parts.platform)
    this.#checkedAt = this.#beatAt = parts.platform.clock.elapsed()
  }

  /** Starts with the next run. Throws `rate_limit_exceeded` if too many are open. */
  open(listener: Listener): Readable {
    this.#requireCapacity(listener)
    const out = new Readable({ read: () => undefined, highWaterMark: bufferedBytesMax })
    const stream: Stream = { ...listener, out, types: readableTypes(scopesOf(listener.role, listener.mode)) }
    out.once('close', () => this.#forget(stream))
    // a disconnected client fails its own stream only
    out.on('error', () => undefined)
    out.push(opening)
    if (this.#closed) out.push(null)
    else {
      this.#all.add(stream)
      this.#joining.add(stream)
      this.#counted()
    }
    return out
  }

  #requireCapacity({ cookie_hash, account_id }: Listener): void {
    let [ofSession, ofAccount] = [0, 0]
    for (const stream of this.#all) {
      if (stream.cookie_hash === cookie_hash) ofSession += 1
      if (stream.account_id === account_id) ofAccount += 1
    }
    if (ofSession >= ofSessionMax)
      throw tooMany(`The session has ${ofSessionMax} event streams open, which is the limit. Close one.`)
    if (ofAccount >= ofAccountMax)
      throw tooMany(
        `The account has ${ofAccountMax} event streams open, which is the limit. Close some, or ask every 15 seconds instead.`,
      )
    if (this.#all.size >= streamsMax) throw tooMany('Too many consoles are open here. Ask every 15 seconds instead.')
  }

  /** Consoles of the account refetch. */
  noteChange(row: ChangeRow): void {
    this.#changes.note(row)
  }

  close(): void {
    this.#closed = true
    for (const stream of this.#all) this.#end(stream)
  }

  async #tick(): Promise<number> {
    if (this.#all.size === 0) return 0
    await this.#check()
    await this.#join()
    await this.#publish()
    this.#beat()
    return 0
  }

  async #check(): Promise<void> {
    const { platform, accounts, sessions } = this.#parts
    const now = platform.clock.elapsed()
    if (now - this.#checkedAt < checkEveryMs) return
    const roles = await sessions.rolesOf([...new Set([...this.#all].map(({ cookie_hash }) => cookie_hash))])
    const suspended = await accounts.suspendedOf(platform.pool, [
      ...new Set([...this.#all].map(({ account_id }) => account_id)),
    ])
    this.#checkedAt = now
    for (const stream of this.#all)
      if (suspended.has(stream.account_id) || roles.get(stream.cookie_hash)?.get(stream.account_id) !== stream.role)
        this.#end(stream)
  }

  async #join(): Promise<void> {
    for (const stream of this.#joining) {
      const followed = await this.#feedOf(stream)
      const missed = await this.#missed(stream, followed.place)
      if (missed === 'unknown') write(stream, resetOf(followed.last_id))
      else
        write(
          stream,
          missed.length === 0 && followed.last_id !== null ? `id: ${followed.last_id}\n\n` : textOf(missed, stream),
        )
      this.#joining.delete(stream)
      if (this.#all.has(stream)) followed.streams.add(stream)
    }
  }

  async #feedOf({ account_id, mode }: Stream): Promise<Followed> {
    const key = tenantKey(account_id, mode)
    const known = this.#feeds.get(key)
    if (known !== undefined) return known
    const tenant = { account_id, mode }
    const end = await this.#parts.feed.end(this.#parts.platform.pool, tenant)
    const followed: Followed = { tenant, streams: new Set(), ...end, needsReset: false, resetAt: -Infinity }
    this.#feeds.set(key, followed)
    return followed
  }

  async #missed(stream: Stream, until: FeedPlace): Promise<readonly FollowedEvent[] | 'unknown'> {
    if (stream.last_id === undefined) return []
    const { platform, feed } = this.#parts
    const { account_id, mode } = stream
    const from = await feed.placeOf(platform.pool, { account_id, mode }, stream.last_id)
    if (from === null) return 'unknown'
    const [events = []] = await feed.following(platform.pool, [{ account_id, mode, ...from }], eventsMax + 1)
    return events.length > eventsMax ? 'unknown' : events.filter((event) => !isAfter(event, until))
  }

  /** One query for all feeds, and one text for all consoles with the same permissions. */
  async #publish(): Promise<void> {
    for (const [key, { streams }] of this.#feeds) if (streams.size === 0) this.#feeds.delete(key)
    const feeds = [...this.#feeds.values()]
    if (feeds.length === 0) return
    const { platform, feed } = this.#parts
    const changed = await this.#changes.poll(feeds.map(({ tenant }) => tenant))
    const found = await feed.following(
      platform.pool,
      feeds.map(({ tenant, place }) => ({ ...tenant, ...place })),
      eventsMax + 1,
    )
    for (const [index, followed] of feeds.entries()) {
      const events = found[index]!
      if (events.length > eventsMax) {
        Object.assign(followed, await feed.end(platform.pool, followed.tenant), { needsReset: true })
      } else if (events.length > 0) {
        const last = events.at(-1)!
        Object.assign(followed, { place: { position: last.position, id: last.id }, last_id: last.id })
        for (const streams of Map.groupBy(followed.streams, ({ role }) => role).values()) {
          const text = textOf(events, streams[0]!)
          for (const stream of streams) write(stream, text)
        }
      }
      if (changed.has(tenantKey(followed.tenant.account_id, followed.tenant.mode))) followed.needsReset = true
      this.#reset(followed)
    }
  }

  #reset(followed: Followed): void {
    const now = this.#parts.platform.clock.elapsed()
    if (!followed.needsReset || now - followed.resetAt < resetEveryMs) return
    followed.needsReset = false
    followed.resetAt = now
    for (const stream of followed.streams) write(stream, resetOf(followed.last_id))
  }

  /** Keeps proxies from closing an idle connection. */
  #beat(): void {
    const now = this.#parts.platform.clock.elapsed()
    if (now - this.#beatAt < beatEveryMs) return
    this.#beatAt = now
    for (const stream of this.#all) write(stream, ':\n\n')
  }

  #end(stream: Stream): void {
    stream.out.push(null)
    this.#forget(stream)
  }

  #forget(stream: Stream): void {
    this.#all.delete(stream)
    this.#joining.delete(stream)
    this.#feeds.get(tenantKey(stream.account_id, stream.mode))?.streams.delete(stream)
    this.#counted()
  }

  get count(): number {
    return this.#all.size
  }

  #counted(): void {
    this.#parts.platform.metrics.console_streams.set(this.#all.size)
  }
}

const tooMany = (message: string) => new Problem('rate_limit_exceeded', message, { headers: { 'retry-after': '15' } })

/** Slow readers are disconnected and resume after their last event. */
function write({ out }: Stream, text: string): void {
  if (text === '' || out.destroyed || out.readableEnded) return
  if (out.readableLength + text.length > bufferedBytesMax) out.destroy()
  else out.push(text)
}

const textOf = (events: readonly FollowedEvent[], { types }: Stream): string =>
  events
    .flatMap(({ id, type, object_id }) =>
      types.has(type) ? [`id: ${id}\ndata: ${JSON.stringify({ type, id: object_id })}\n\n`] : [],
    )
    .join('')

const resetOf = (last_id: string | null): string =>
  `${last_id === null ? '' : `id: ${last_id}\n`}data: {"type":"reset"}\n\n`

function isAfter(event: FeedPlace, place: FeedPlace): boolean {
  const [position, other] = [BigInt(event.position), BigInt(place.position)]
  return position > other || (position === other && event.id > place.id)
}

const pollEveryMs = 1_000
/** Requests are logged within about a second, in no order. */
const overlapMs = 5_000

/**
 * Changes without an event: own ones are noticed at once, those of other processes through the request log
 * (behaviour: console 8.4).
 */
const tenantKey = (account_id: string, mode: Mode): string => `${account_id} ${mode}`

export class Changes {
  readonly #platform: Platform
  #followed: ReadonlySet<string> = new Set()
  #changed = new Set<string>()
  readonly #seen = new Map<string, number>()
  #polledAt = -Infinity

  constructor(platform: Platform) {
    this.#platform = platform
  }

  note({ account_id, mode, id }: ChangeRow): void {
    const key = tenantKey(account_id, mode)
    if (!this.#followed.has(key)) return
    this.#seen.set(id, this.#platform.clock.elapsed())
    this.#changed.add(key)
  }

  async poll(tenants: readonly Tenant[]): Promise<ReadonlySet<string>> {
    const now = this.#platform.clock.elapsed()
    if (now - this.#polledAt >= pollEveryMs) {
      this.#polledAt = now
      await this.#lookInLog(tenants, now)
    }
    const changed = this.#changed
    this.#changed = new Set()
    return changed
  }

  async #lookInLog(tenants: readonly Tenant[], now: number): Promise<void> {
    const rows = await listChanges(this.#platform.pool, tenants, idFloor('req', this.#platform.clock.now() - overlapMs))
    for (const { account_id, mode, id } of rows) {
      if (this.#seen.has(id)) continue
      this.#seen.set(id, now)
      // changes before the first listener are part of what it has read
      if (this.#followed.has(tenantKey(account_id, mode))) this.#changed.add(tenantKey(account_id, mode))
    }
    this.#followed = new Set(tenants.map(({ account_id, mode }) => tenantKey(account_id, mode)))
    // after the clock was set back, polls find the same changes again
    const found = new Set(rows.map(({ id }) => id))
    for (const [id, at] of this.#seen) if (now - at > 2 * overlapMs && !found.has(id)) this.#seen.delete(id)
  }
}

type ObjectKind = (typeof eventTypes)[keyof typeof eventTypes]['object']

const readingScopes: Readonly<Record<ObjectKind, Scope>> = {
  message: 'messages:read',
  channel: 'channels:read',
  balance: 'billing:read',
  package: 'billing:read',
  campaign: 'campaigns:read',
  webhook_endpoint: 'webhooks:read',
}

/** (behaviour: console 8.2) */
function readableTypes(scopes: readonly Scope[]): ReadonlySet<string> {
  return new Set(
    Object.entries(eventTypes).flatMap(([type, { object }]) => (scopes.includes(readingScopes[object]) ? [type] : [])),
  )
}
