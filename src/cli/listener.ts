/** Follows the event feed with an API key and posts each event to a local address: what `posthorn listen` does, without the command line. */
import { hash, randomBytes } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { request } from 'undici'
import type { ErrorBody } from '../contract/resources/api-error.ts'
import type { Event } from '../contract/resources/event.ts'
import type { Clock } from '../lib/clock.ts'
import { eventHeaders, signingKey, type SigningKey } from '../lib/event-headers.ts'
import type { HttpPoster } from '../lib/http-post.ts'
import { makeFolder } from '../lib/make-folder.ts'
import { OperatorError } from '../platform/operator-error.ts'

export interface ListenerOptions {
  readonly base_url: string
  readonly key: string
  readonly forward_to: string
  /** Event types and prefixes such as `message.*`; empty: all. */
  readonly events: readonly string[]
  /** Where the place in the feed and the secret are kept. */
  readonly folder: string
  readonly clock: Clock
  readonly poster: HttpPoster
  /** Told what happens, a line at a time. */
  readonly tell: (line: string) => void
  readonly signal: AbortSignal
}

/** What survives a restart. */
interface State {
  readonly secret: string
  /** The last event that was acknowledged or passed over; empty: the start of the feed; null: what happens once the service can be reached. */
  cursor: string | null
}

export interface Listener {
  readonly secret: string
  /** Follows the feed until the signal aborts. Rejects with an OperatorError when the service refuses the key. */
  follow(): Promise<void>
}

const pageSize = 100
const idleMs = 500
const timeoutMs = 10_000
const backoffMs = { first: 1_000, max: 30_000 }

/** Takes up where an earlier listener with this key, service and address left off; the first one begins with what happens next. */
export async function makeListener(options: ListenerOptions): Promise<Listener> {
  const file = join(options.folder, `${hash('sha256', [options.key, options.base_url, options.forward_to].join('\n'), 'hex').slice(0, 24)}.json`)
  await makeFolder(options.folder).catch((error: Error) => {
    throw notKept(options.folder, error)
  })
  const state = (await readState(file)) ?? { secret: `whsec_${randomBytes(32).toString('base64')}`, cursor: null }
  state.cursor ??= await newest(options)
  await writeState(file, state).catch((error: Error) => {
    throw notKept(options.folder, error)
  })
  return { secret: state.secret, follow: () => follow(options, file, state) }
}

const notKept = (folder: string, error: Error): OperatorError =>
  new OperatorError(`The place in the feed cannot be kept in ${folder}: ${error.message}. Set POSTHORN_DATA_DIR to a folder that can be written.`)

async function follow(options: ListenerOptions, file: string, state: State): Promise<void> {
  const { signal, clock } = options
  const key = signingKey(state.secret)
  while (!signal.aborted && state.cursor !== null) {
    const query = `order=asc&limit=${pageSize}${state.cursor === '' ? '' : `&starting_after=${state.cursor}`}`
    const answer = await ask<{ data: Event[] }>(options, `/v1/events?${query}`)
    if (answer === 'unknown_cursor') {
      options.tell('The service no longer knows the place in the feed, as after a reset of its database: beginning with what happens next.')
      state.cursor = await newest(options)
      await writeState(file, state)
      continue
    }
    let passedOver = false
    for (const event of answer?.data ?? []) {
      if (!wanted(event.type, options.events)) {
        state.cursor = event.id
        passedOver = true
        continue
      }
      if (!(await forward(options, key, event))) return
      state.cursor = event.id
      passedOver = false
      await writeState(file, state)
    }
    if (passedOver) await writeState(file, state)
    if ((answer?.data.length ?? 0) === 0) await clock.sleep(idleMs, signal)
  }
}

const wanted = (type: string, events: readonly string[]): boolean =>
  events.length === 0 || events.some((entry) => entry === '*' || entry === type || (entry.endsWith('.*') && type.startsWith(entry.slice(0, -1))))

/** Posts until it is acknowledged. False when the listener was ended before. */
async function forward(options: ListenerOptions, key: SigningKey, event: Event): Promise<boolean> {
  const { clock, signal, poster, forward_to, tell } = options
  const body = Buffer.from(JSON.stringify(event))
  for (let wait = backoffMs.first; ; wait = Math.min(wait * 2, backoffMs.max)) {
    if (signal.aborted) return false
    const headers = eventHeaders([key], event, body, clock.now())
    // an exchange that has begun is finished, so that what is acknowledged while ending is not posted again
    const outcome = await poster.post({ url: forward_to, headers, body, timeout_ms: timeoutMs })
    if (outcome.error === null) {
      tell(`${event.type} ${event.id} → ${outcome.status}`)
      return true
    }
    tell(`${event.type} ${event.id} → ${outcome.error.code}: ${outcome.error.message} Again in ${wait / 1000} s.`)
    await clock.sleep(wait, signal)
  }
}

/** The id of the newest event, or nothing when there is none; null when the listener was ended before the service answered. */
async function newest(options: ListenerOptions): Promise<string | null> {
  const answer = await ask<{ data: Event[] }>(options, '/v1/events?limit=1')
  return answer === undefined || answer === 'unknown_cursor' ? null : (answer.data[0]?.id ?? '')
}

/** Asks the service until it answers; undefined when the listener was ended before. */
async function ask<T>(options: ListenerOptions, path: string): Promise<T | 'unknown_cursor' | undefined> {
  const { clock, signal, tell } = options
  for (let wait = backoffMs.first; !signal.aborted; wait = Math.min(wait * 2, backoffMs.max)) {
    const answer = await get(options, path)
    if (answer.status === 200) return answer.body as T
    const { error } = (answer.body ?? {}) as { error?: ErrorBody }
    if (answer.status === 400 && error?.param === 'starting_after') return 'unknown_cursor'
    if (answer.status >= 400 && answer.status < 500 && answer.status !== 429)
      throw new OperatorError(`The service refuses to show its events (${answer.status}): ${error?.message ?? 'no reason given'}`)
    if (answer.status !== 429)
      tell(`The service at ${options.base_url} ${answer.status === 0 ? 'cannot be reached' : `answered ${answer.status}`}. Again in ${wait / 1000} s.`)
    await clock.sleep(answer.status === 429 ? 1_000 : wait, signal)
  }
  return undefined
}

/** Status 0: no answer. */
async function get({ base_url, key, signal }: ListenerOptions, path: string): Promise<{ status: number; body: unknown }> {
  try {
    const answer = await request(`${base_url}${path}`, { headers: { authorization: `Bearer ${key}` }, headersTimeout: 30_000, bodyTimeout: 30_000, signal })
    const text = await answer.body.text()
    return { status: answer.statusCode, body: text.startsWith('{') ? (JSON.parse(text) as unknown) : undefined }
  } catch {
    return { status: 0, body: undefined } // refused, reset or ended: asked again
  }
}

async function readState(file: string): Promise<State | null> {
  try {
    const state = JSON.parse(await readFile(file, 'utf8')) as Partial<State>
    const { secret, cursor } = state
    return typeof secret === 'string' && (typeof cursor === 'string' || cursor === null) ? { secret, cursor } : null
  } catch {
    return null // the first start
  }
}

/** On the disk before it returns, whole or not at all: what was acknowledged is never posted again. */
async function writeState(file: string, state: State): Promise<void> {
  const draft = `${file}.new`
  const handle = await open(draft, 'w', 0o600)
  try {
    await handle.writeFile(JSON.stringify(state))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, file)
}
