/** A simulator of Telegram's Bot API: one bot with its chats, by webhook or polling. */
import type { TestContext } from 'node:test'
import { simulatedHttp, type SimulatedRequest, type Odd, type Said } from './http.ts'

export interface TelegramOptions {
  readonly bot_token: string
  readonly username: string
  readonly reach?: (url: string) => string
}

type Fields = Record<string, unknown>

export interface SentMessage {
  readonly method: string
  readonly parameters: Fields
  /** `chat:message`, as in our ids. */
  readonly id: string
}

export interface TelegramSimulator {
  readonly url: string
  readonly bot: { bot_token: string }
  readonly calls: string[]
  readonly sent: SentMessage[]
  readonly webhook: () => {
    readonly url: string
    readonly secret_token: string
    readonly allowed_updates: readonly string[]
  } | null
  readonly waiting: () => number
  readonly isPolled: () => boolean
  readonly answeredButtons: string[]
  refuse(chat_id: number, error_code: number, description: string, parameters?: Fields): void
  answerNext(...answers: Odd[]): void
  file(file_id: string, path: string, content: Buffer): void
  say(chat_id: number, fields: Fields, chat?: Fields): Promise<number>
  tap(message: SentMessage, text: string): Promise<number>
  report(update: Fields): Promise<Response | undefined>
  repeat(update_id: number): Promise<Response | undefined>
}

interface State {
  readonly options: TelegramOptions
  readonly bot: { bot_token: string }
  readonly calls: string[]
  readonly sent: SentMessage[]
  readonly refusals: Map<number, Fields>
  readonly files: Map<string, { path: string; content: Buffer }>
  readonly answeredButtons: string[]
  readonly callbacks: Map<number, Fields>
  updates: Fields[]
  webhook: { url: string; secret_token: string; allowed_updates: readonly string[] } | null
  poll: { answer: () => void; conflict: () => void } | null
  numbers: number
}

function startState(options: TelegramOptions): State {
  return {
    options,
    bot: { bot_token: options.bot_token },
    calls: [],
    sent: [],
    refusals: new Map(),
    files: new Map(),
    answeredButtons: [],
    callbacks: new Map(),
    updates: [],
    webhook: null,
    poll: null,
    numbers: 1000,
  }
}

export async function simulateTelegram(t: TestContext, options: TelegramOptions): Promise<TelegramSimulator> {
  const state = startState(options)
  const http = await simulatedHttp(t, (request) => answerOf(state, request))
  const report = (update: Fields) => reportUpdate(state, update)
  const number = () => (state.numbers += 1)
  const news = async (fields: Fields) => {
    const update_id = number()
    await report({ update_id, ...fields })
    return update_id
  }
  return {
    url: http.url,
    bot: state.bot,
    calls: state.calls,
    sent: state.sent,
    webhook: () => state.webhook,
    waiting: () => state.updates.length,
    isPolled: () => state.poll !== null,
    answeredButtons: state.answeredButtons,
    refuse: (chat_id, error_code, description, parameters) =>
      void state.refusals.set(chat_id, {
        ok: false,
        error_code,
        description,
        ...(parameters === undefined ? {} : { parameters }),
      }),
    answerNext: http.answerNext,
    file: (file_id, path, content) => void state.files.set(file_id, { path, content }),
    say: (chat_id, fields, chat = { type: 'private', first_name: 'Ada', last_name: 'Lovelace' }) =>
      news({
        message: {
          message_id: number(),
          from: { id: chat_id, is_bot: false, first_name: 'Ada', last_name: 'Lovelace', language_code: 'en' },
          chat: { id: chat_id, ...chat },
          date: 1_769_851_800,
          ...fields,
        },
      }),
    tap: (message, text) => news(tapOf(message, text, number())),
    report,
    repeat: (update_id) => report(state.callbacks.get(update_id)!),
  }
}

function tapOf(message: SentMessage, text: string, number: number): Fields {
  const [chat_id, message_id] = message.id.split(':').map(Number)
  const { inline_keyboard } = message.parameters['reply_markup'] as {
    inline_keyboard: { text: string; callback_data: string }[][]
  }
  const data = inline_keyboard.flat().find((button) => button.text === text)!.callback_data
  const answered = {
    message_id,
    chat: { id: chat_id, type: 'private' },
    date: 1_769_851_800,
    text: message.parameters['text'],
    reply_markup: { inline_keyboard },
  }
  return {
    callback_query: {
      id: `tap-${number}`,
      from: { id: chat_id, first_name: 'Ada' },
      message: answered,
      chat_instance: '1',
      data,
    },
  }
}

async function reportUpdate(state: State, update: Fields): Promise<Response | undefined> {
  state.callbacks.set(Number(update['update_id']), update)
  const { webhook } = state
  if (webhook === null) {
    state.updates.push(update)
    state.poll?.answer()
    return undefined
  }
  const response = await fetch((state.options.reach ?? ((same) => same))(webhook.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': webhook.secret_token },
    body: JSON.stringify(update),
  })
  const answer = (await response
    .clone()
    .json()
    .catch(() => null)) as Fields | null
  if (answer?.['method'] === 'answerCallbackQuery') state.answeredButtons.push(String(answer['callback_query_id']))
  return response
}

const ok = (result: unknown): Said => ({ body: { ok: true, result } })
const error = (error_code: number, description: string, more: Fields = {}): Said => ({
  status: error_code,
  body: { ok: false, error_code, description, ...more },
})

async function answerOf(state: State, { path, body }: SimulatedRequest): Promise<Said> {
  const [, token, rest] = /^(?:\/file)?\/bot([^/]+)\/(.+)$/.exec(path) ?? []
  if (token !== state.bot.bot_token) return error(401, 'Unauthorized')
  if (path.startsWith('/file/')) {
    const file = [...state.files.values()].find((one) => one.path === decodeURI(rest!))
    return file === undefined
      ? error(404, 'Not Found')
      : { body: file.content, headers: { 'content-type': 'application/octet-stream' } }
  }
  const parameters = (body.length === 0 ? {} : JSON.parse(body.toString('utf8'))) as Fields
  state.calls.push(rest!)
  return (await ownMethods[rest!]?.(state, parameters)) ?? sendMethod(state, rest!, parameters)
}

/** https://core.telegram.org/bots/api#getfile */
const botFileBytesMax = 20 * 1024 * 1024

const ownMethods: Readonly<Record<string, (state: State, parameters: Fields) => Said | Promise<Said>>> = {
  getMe: ({ options }) => ok({ id: 110_201_543, is_bot: true, first_name: 'Acme', username: options.username }),
  setWebhook(state, { url, secret_token, allowed_updates }) {
    if (!String(url).startsWith('https://'))
      return error(400, 'Bad Request: bad webhook: An HTTPS URL must be provided for webhook')
    state.webhook = {
      url: String(url),
      secret_token: String(secret_token),
      allowed_updates: allowed_updates as string[],
    }
    return ok(true)
  },
  deleteWebhook(state) {
    state.webhook = null
    return ok(true)
  },
  getWebhookInfo: ({ webhook, updates }) =>
    ok({ url: webhook?.url ?? '', has_custom_certificate: false, pending_update_count: updates.length }),
  getUpdates,
  getFile({ files }, { file_id }) {
    if (!/^[\w-]+$/.test(String(file_id))) return error(400, 'Bad Request: invalid file_id')
    const file = files.get(String(file_id))
    if (file !== undefined && file.content.length > botFileBytesMax) return error(400, 'Bad Request: file is too big')
    return file === undefined
      ? error(400, 'Bad Request: wrong file_id or the file is temporarily unavailable')
      : ok({ file_id, file_path: file.path })
  },
  answerCallbackQuery(state, { callback_query_id }) {
    state.answeredButtons.push(String(callback_query_id))
    return ok(true)
  },
}

/** A second polling request ends the first with a conflict. */
async function getUpdates(state: State, { offset }: Fields): Promise<Said> {
  if (state.webhook !== null)
    return error(
      409,
      "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
    )
  state.poll?.conflict()
  if (typeof offset === 'number')
    state.updates = state.updates.filter((update) => Number(update['update_id']) >= offset)
  if (state.updates.length > 0) return ok(state.updates.slice(0, 100))
  const { promise, resolve } = Promise.withResolvers<Said>()
  const poll = {
    answer: () => resolve(ok(state.updates.slice(0, 100))),
    conflict: () =>
      resolve(
        error(409, 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running'),
      ),
  }
  state.poll = poll
  const answer = await promise
  if (state.poll === poll) state.poll = null
  return answer
}

/** Required parameters besides `chat_id`. */
const needed: Readonly<Record<string, readonly string[]>> = {
  sendMessage: ['text'],
  sendPhoto: ['photo'],
  sendVideo: ['video'],
  sendAudio: ['audio'],
  sendDocument: ['document'],
  sendSticker: ['sticker'],
  sendLocation: ['latitude', 'longitude'],
  sendVenue: ['latitude', 'longitude', 'title', 'address'],
  sendContact: ['phone_number', 'first_name'],
  sendMediaGroup: ['media'],
}

function sendMethod(state: State, method: string, parameters: Fields): Said {
  const fields = needed[method]
  if (fields === undefined) return error(404, 'Not Found: method not found')
  const chat_id = Number(parameters['chat_id'])
  const refusal = state.refusals.get(chat_id)
  if (refusal !== undefined) return { status: Number(refusal['error_code']), body: refusal }
  if (!Number.isSafeInteger(chat_id) || chat_id === 0) return error(400, 'Bad Request: chat not found')
  const missing = fields.find((name) => parameters[name] === undefined || parameters[name] === '')
  if (missing !== undefined) return error(400, `Bad Request: ${missing} is empty`)
  const text = parameters['text'] ?? parameters['caption']
  if (typeof text === 'string' && [...text].length > (method === 'sendMessage' ? 4096 : 1024))
    return error(400, 'Bad Request: message is too long')
  const keyboard =
    (
      parameters['reply_markup'] as { inline_keyboard?: { callback_data?: string }[][] } | undefined
    )?.inline_keyboard?.flat() ?? []
  if (keyboard.some(({ callback_data = 'x' }) => callback_data === '' || Buffer.byteLength(callback_data) > 64))
    return error(400, 'Bad Request: BUTTON_DATA_INVALID')
  const items = method === 'sendMediaGroup' ? (parameters['media'] as Fields[]) : [parameters]
  if (method === 'sendMediaGroup' && (items.length < 2 || items.length > 10))
    return error(400, 'Bad Request: wrong number of media in the album')
  const results = items.map(() => {
    const message_id = (state.numbers += 1)
    state.sent.push({ method, parameters, id: `${chat_id}:${message_id}` })
    return { message_id, chat: { id: chat_id, type: 'private' }, date: 1_769_851_800 }
  })
  return ok(method === 'sendMediaGroup' ? results : results[0])
}
