/** Long polling of updates, for installations that Telegram cannot call. */
import type { Connection, SessionContext, ProviderTools, CallbackItem, Session, StoreItems } from '../provider.ts'
import { callApi, integerAt } from './api.ts'
import { allowedUpdates, failureOf } from './connect.ts'
import { aborted } from '../../lib/clock.ts'
import { isObject } from '../../lib/json.ts'
import { readUpdate } from './callbacks.ts'

const openSeconds = 25
const answerTimeoutMs = (openSeconds + 10) * 1000
const updatesMax = 100
const answerBytesMax = 16 * 1024 * 1024
const waiting = { timeout_ms: answerTimeoutMs, answer_bytes_max: answerBytesMax, long_poll: true }
const throttledMaxMs = 60_000
const pauseMs = 500

interface Polling {
  readonly tools: ProviderTools
  readonly connection: Connection
  readonly store: StoreItems
  readonly over: AbortController
  offset: number | undefined
}

type Ended = Awaited<Session['ended']>

/** Deletes the webhook first, which would prevent polling. */
export async function openSession(tools: ProviderTools, connection: Connection, { store, signal }: SessionContext) {
  const answer = await callApi(tools, connection, 'deleteWebhook', {}, signal)
  if (answer.kind !== 'ok') return failureOf(answer)
  if (answer.result !== true)
    return { kind: 'unavailable' as const, message: 'The answer does not come from Telegram.' }
  const polling: Polling = { tools, connection, store, over: new AbortController(), offset: undefined }
  const ended = poll(polling)
  const session: Session = {
    ended,
    async close(signal) {
      polling.over.abort()
      // updates not stored by then arrive again
      await Promise.race([ended, aborted(signal)])
    },
  }
  return { kind: 'open' as const, session }
}

/** Never rejects. Updates not acknowledged arrive again and are stored once. */
async function poll(polling: Polling): Promise<Ended> {
  const { signal } = polling.over
  while (!signal.aborted) {
    const ended = await pollOnce(polling).catch((error: unknown) => ({
      refused: false,
      message: `Updates could not be stored: ${String(error).slice(0, 200)}`,
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
    if (!Array.isArray(answer.result)) return { refused: false, message: 'The updates are not a list.' }
    if (answer.result.length > 0) return await storeUpdates(polling, answer.result)
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

async function storeUpdates(polling: Polling, updates: readonly unknown[]): Promise<Ended | null> {
  const ids = updates.map((update) => (isObject(update) ? integerAt(update, 'update_id') : null))
  if (!ids.every((id) => id !== null)) return { refused: false, message: 'An update has no id.' }
  const items: CallbackItem[] = []
  const [ignored, buttons]: [string[], string[]] = [[], []]
  for (const read of updates.map(readUpdate)) {
    if ('ignored' in read) ignored.push(read.ignored)
    else items.push(read.inbound)
    if ('callback_query_id' in read && read.callback_query_id !== undefined) buttons.push(read.callback_query_id)
  }
  await polling.store(
    items,
    Buffer.from(JSON.stringify(updates)),
    ignored.length === 0 ? undefined : ignored.join(', '),
  )
  polling.offset = Math.max(...ids) + 1
  await answerButtons(polling, buttons)
  return null
}

async function answerButtons({ tools, connection, over }: Polling, ids: readonly string[]): Promise<void> {
  await Promise.all(
    ids.map((callback_query_id) =>
      callApi(tools, connection, 'answerCallbackQuery', { callback_query_id }, over.signal, { timeout_ms: 5000 }),
    ),
  )
}
