/** Asks Telegram for updates where it cannot call: a request stays open until there is something. */
import type { Connection, SessionContext, ProviderTools, CallbackItem, Session, StoreItems } from '../provider.ts'
import { callApi } from './api.ts'
import { allowedUpdates, failureOf } from './connecting.ts'
import { isObject } from '../../lib/json-fields.ts'
import { integerAt } from './json.ts'
import { readUpdate } from './updates.ts'

/** For so long Telegram keeps a request open, and so much longer its answer may take. */
const openSeconds = 25
const answerTimeoutMs = (openSeconds + 10) * 1000
/** A hundred updates; one has up to some tens of KB. */
const updatesMax = 100
const answerBytesMax = 16 * 1024 * 1024
const waiting = { timeout_ms: answerTimeoutMs, answer_bytes_max: answerBytesMax, long_poll: true }
const throttledMaxMs = 60_000
/** Who answers that there is nothing without having waited is not asked again at once. */
const pauseMs = 500

interface Polling {
  readonly tools: ProviderTools
  readonly connection: Connection
  readonly tell: StoreItems
  readonly over: AbortController
  /** Of the next update; Telegram forgets those before it. */
  offset: number | undefined
}

type Ended = Awaited<Session['ended']>

/** A webhook that was set keeps updates from being asked for: it is taken back first. */
export async function openSession(
  tools: ProviderTools,
  connection: Connection,
  { store: tell, signal }: SessionContext,
) {
  const answer = await callApi(tools, connection, 'deleteWebhook', {}, signal)
  if (answer.kind !== 'ok') return failureOf(answer)
  if (answer.result !== true)
    return { kind: 'unavailable' as const, message: 'What answered does not speak as Telegram does.' }
  const polling: Polling = { tools, connection, tell, over: new AbortController(), offset: undefined }
  const ended = poll(polling)
  const session: Session = {
    ended,
    async close(patience) {
      polling.over.abort()
      // what came is being kept; for who does not wait for that it comes again
      await Promise.race([ended, aborted(patience)])
    },
  }
  return { kind: 'open' as const, session }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted)
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

/** Resolves when no more updates come; never rejects. What Telegram was not told of being kept comes again, and is kept once. */
async function poll(polling: Polling): Promise<Ended> {
  const { signal } = polling.over
  while (!signal.aborted) {
    const ended = await pollOnce(polling).catch((error: unknown) => ({
      refused: false,
      message: `Updates could not be kept: ${String(error).slice(0, 200)}`,
    }))
    if (ended !== null) return ended
  }
  return { refused: false, message: 'It was closed.' }
}

async function pollOnce(polling: Polling): Promise<Ended | null> {
  const { tools, connection, over, offset } = polling
  const parameters = {
    timeout: openSeconds,
    limit: updatesMax,
    allowed_updates: allowedUpdates,
    ...(offset === undefined ? {} : { offset }),
  }
  const began_ms = tools.clock.elapsed()
  const answer = await callApi(tools, connection, 'getUpdates', parameters, over.signal, waiting)
  if (answer.kind === 'ok') {
    if (!Array.isArray(answer.result)) return { refused: false, message: 'The updates are no list.' }
    if (answer.result.length > 0) return await take(polling, answer.result)
    if (tools.clock.elapsed() - began_ms < pauseMs) await tools.clock.sleep(pauseMs, over.signal)
    return null
  }
  if (answer.kind === 'error' && answer.code === 429) {
    await tools.clock.sleep(Math.min(answer.retry_after_ms ?? 1000, throttledMaxMs), over.signal)
    return null
  }
  const { kind, message } = failureOf(answer)
  return { refused: kind === 'refused', message }
}

async function take(polling: Polling, updates: readonly unknown[]): Promise<Ended | null> {
  const numbers = updates.map((update) => (isObject(update) ? integerAt(update, 'update_id') : null))
  if (!numbers.every((number) => number !== null)) return { refused: false, message: 'An update has no number.' }
  const reports: CallbackItem[] = []
  const [ignored, buttons]: [string[], string[]] = [[], []]
  for (const read of updates.map(readUpdate)) {
    if ('ignored' in read) ignored.push(read.ignored)
    else reports.push(read.inbound)
    if ('callback_query_id' in read && read.callback_query_id !== undefined) buttons.push(read.callback_query_id)
  }
  await polling.tell(
    reports,
    Buffer.from(JSON.stringify(updates)),
    ignored.length === 0 ? undefined : ignored.join(', '),
  )
  polling.offset = Math.max(...numbers) + 1
  await answerButtons(polling, buttons)
  return null
}

/** A tapped button shows a clock until it is answered; where that fails, it ends by itself. */
async function answerButtons({ tools, connection, over }: Polling, ids: readonly string[]): Promise<void> {
  await Promise.all(
    ids.map((callback_query_id) =>
      callApi(tools, connection, 'answerCallbackQuery', { callback_query_id }, over.signal, { timeout_ms: 5000 }),
    ),
  )
}
