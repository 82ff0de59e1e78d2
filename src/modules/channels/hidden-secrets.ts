/**
 * Keeps credentials out of what the code of providers says. Whatever an adapter returns or rejects with for people to read is cleared of them, once, where adapters are made,
 * and made fit to be stored behind that (`storable-answers.ts`).
 */
import { isObject } from '../../lib/json-fields.ts'
import type {
  ProviderAdapter,
  StatusQueryResult,
  Connection,
  FoundMessage,
  Outcome,
  Provider,
  CallbackResult,
  CallbackItem,
  Session,
  StoreItems,
} from '../../providers/provider.ts'
import { storableOutcome, storablePart, storableReport, storableTold } from './storable-answers.ts'

type Hide = (text: string) => string

const hidden = '[hidden]'
/** A secret that is shorter is not looked for: it would be found in every other word. */
const lengthMin = 4
/** A secret that is shorter is hidden where it stands by itself. */
const longLengthMin = 8
const wordCharacter = String.raw`[\p{L}\p{N}]`
const urls = /\bhttps?:\/\/[^\s"'<>]+/gi
/** Before the `@` of an address, and the values of its parameters that tell who asks. */
const userInfo = /(?<=^https?:\/\/)[^/?#@]*@/i
const tellingParameters = /([?&][^=&#]*(?:token|key|secret|pass|sign?|auth|hash|credential)[^=&#]*=)[^&#]*/gi

/** The adapter, whose outcomes, refusals, reports of failures and rejections show no secret of the connection. */
export function hidingSecrets(provider: Pick<Provider, 'credentials'>, adapter: ProviderAdapter): ProviderAdapter {
  const hiderOf = ({ credentials }: Connection): Hide => {
    // most of what is told is no text
    let hide: Hide | undefined
    return (text) => (hide ??= hider(provider, credentials))(text)
  }
  const {
    send,
    queryStatus: ask,
    connect,
    register,
    disconnect,
    receiveCallback: receive,
    listTemplates: templates,
    fetchMedia: media,
    openSession: open,
  } = bound(adapter)
  return {
    ...adapter,
    ...(send && {
      send: async (message, to, signal, took) =>
        cleared(
          hiderOf(to),
          outcomeWithout,
          await kept(hiderOf(to), send(message, to, signal, took && storablePart(took))),
        ),
    }),
    ...(ask && {
      queryStatus: async (message, to, signal) =>
        cleared(hiderOf(to), toldWithout, await kept(hiderOf(to), ask(message, to, signal))),
    }),
    ...(connect && {
      connect: async (to, signal) => cleared(hiderOf(to), answerWithout, await kept(hiderOf(to), connect(to, signal))),
    }),
    ...(register && {
      register: async (to, signal) =>
        cleared(hiderOf(to), answerWithout, await kept(hiderOf(to), register(to, signal))),
    }),
    ...(disconnect && { disconnect: (to, signal) => kept(hiderOf(to), disconnect(to, signal)) }),
    ...(receive && {
      receiveCallback: (callback, from) => cleared(hiderOf(from), receivedWithout, receive(callback, from)),
    }),
    ...(templates && { listTemplates: (of, signal, name) => kept(hiderOf(of), templates(of, signal, name)) }),
    ...(media && {
      fetchMedia: (reference, of, bytes_max, signal) =>
        mediaWithout(hiderOf(of), media(reference, of, bytes_max, signal)),
    }),
    ...(open && {
      openSession: async (to, opening) => {
        const hide = hiderOf(to)
        const opened = await kept(hide, open(to, { ...opening, store: telling(hide, opening.store) }))
        return opened.kind === 'open'
          ? { ...opened, session: sessionWithout(hide, opened.session) }
          : answerWithout(hide, opened)
      },
    }),
  }
}

/** The same functions, of an adapter of whatever kind. */
const bound = (adapter: ProviderAdapter): ProviderAdapter =>
  Object.fromEntries(
    Object.entries(adapter).map(([name, value]) => [
      name,
      typeof value === 'function' ? (value as () => unknown).bind(adapter) : value,
    ]),
  )

/** What hides the secrets among these credentials, however they are written, and what tells who asks in addresses. */
function hider(provider: Pick<Provider, 'credentials'>, credentials: Readonly<Record<string, unknown>>): Hide {
  const declared = provider.credentials.properties as Readonly<Record<string, { readonly format?: string }>>
  const texts = Object.entries(credentials).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  const secrets = texts.flatMap(([name, value]) =>
    declared[name]?.format === 'password' && value.length >= lengthMin ? [value] : [],
  )
  const others = texts.flatMap(([, value]) => (secrets.includes(value) ? [] : [value]))
  const forms = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64'),
    ...others.map((name) => Buffer.from(`${name}:${secret}`).toString('base64')),
  ])
  // a secret that begins with another one is hidden whole
  const patterns = [...new Set(forms)].toSorted((one, other) => other.length - one.length).map(patternOf)
  return (text) => patterns.reduce((left, pattern) => left.replace(pattern, hidden), text.replace(urls, addressWithout))
}

function patternOf(form: string): RegExp {
  const literal = form.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  return new RegExp(
    form.length >= longLengthMin ? literal : `(?<!${wordCharacter})${literal}(?!${wordCharacter})`,
    'gu',
  )
}

const addressWithout = (url: string): string =>
  url.replace(userInfo, `${hidden}@`).replace(tellingParameters, `$1${hidden}`)

const cleared = <T>(hide: Hide, without: (hide: Hide, value: NonNullable<T>) => NonNullable<T>, value: T): T =>
  value === null || value === undefined ? value : without(hide, value)

/** What it rejects with is the same error, with other words. */
async function kept<T>(hide: Hide, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw errorWithout(hide, error)
  }
}

function errorWithout(hide: Hide, error: unknown): Error {
  if (!(error instanceof Error)) return new Error(hide(String(error)))
  error.message = hide(error.message)
  if (error.stack !== undefined) error.stack = hide(error.stack)
  // whoever logs it would write that down, too
  if ('cause' in error) delete error.cause
  return error
}

const outcomeWithout = (hide: Hide, outcome: Outcome): Outcome => storableOutcome(hiddenOutcome(hide, outcome))

function hiddenOutcome(hide: Hide, outcome: Outcome): Outcome {
  if (outcome.kind === 'accepted')
    return outcome.later_items === undefined
      ? outcome
      : { ...outcome, later_items: outcome.later_items.map((one) => ({ ...one, item: hiddenReport(hide, one.item) })) }
  if (outcome.kind === 'unknown') return { ...outcome, message: hide(outcome.message) }
  const said = saidWithout(hide, outcome)
  return said.kind === 'throttled' && said.if_lasting !== undefined
    ? { ...said, if_lasting: saidWithout(hide, said.if_lasting) }
    : said
}

const toldWithout = (hide: Hide, told: StatusQueryResult): StatusQueryResult => storableTold(hiddenTold(hide, told))

function hiddenTold(hide: Hide, told: StatusQueryResult): StatusQueryResult {
  if (told.kind === 'found') return foundWithout(hide, told)
  if (told.kind === 'candidates')
    return { ...told, found: told.found.map((one) => foundWithout(hide, one)) as [FoundMessage, ...FoundMessage[]] }
  return told.kind === 'refused' ? saidWithout(hide, told) : answerWithout(hide, told)
}

const foundWithout = <T extends FoundMessage>(hide: Hide, found: T): T =>
  found.receipt === undefined ? found : { ...found, receipt: hiddenReport(hide, found.receipt) }

const saidWithout = <T extends { readonly message: string; readonly provider_code: string | null }>(
  hide: Hide,
  said: T,
): T => ({
  ...said,
  message: textWithout(hide, said.message),
  provider_code: textWithout(hide, said.provider_code),
})

/** What a provider wrote itself may be anything, whatever its type says: that is judged where reports are read. */
const textWithout = <T>(hide: Hide, text: T): T => (typeof text === 'string' ? (hide(text) as T) : text)

const answerWithout = <T extends object>(hide: Hide, answer: T): T =>
  'message' in answer && typeof answer.message === 'string' ? { ...answer, message: hide(answer.message) } : answer

const reportWithout = (hide: Hide, report: CallbackItem): CallbackItem => storableReport(hiddenReport(hide, report))

/** What people wrote stays as it is. */
function hiddenReport<T extends CallbackItem>(hide: Hide, report: T): T {
  if (report.kind === 'delivery_receipt' && isObject(report.error))
    return { ...report, error: saidWithout(hide, report.error) }
  return report.kind === 'connection_status' ? { ...report, message: hide(report.message) } : report
}

const receivedWithout = (hide: Hide, received: CallbackResult): CallbackResult => ({
  ...received,
  items: received.items.map((report) => reportWithout(hide, report)),
  ...(received.ignored === undefined ? {} : { ignored: hide(received.ignored) }),
})

async function mediaWithout(
  hide: Hide,
  opening: ReturnType<NonNullable<ProviderAdapter['fetchMedia']>>,
): ReturnType<NonNullable<ProviderAdapter['fetchMedia']>> {
  const { content_type, chunks } = await kept(hide, opening)
  return { content_type, chunks: chunksWithout(hide, chunks) }
}

async function* chunksWithout(hide: Hide, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks
  } catch (error) {
    throw errorWithout(hide, error)
  }
}

const telling =
  (hide: Hide, tell: StoreItems): StoreItems =>
  (reports, raw, ignored) =>
    tell(
      reports.map((report) => reportWithout(hide, report)),
      raw,
      ignored === undefined ? undefined : hide(ignored),
    )

const sessionWithout = (hide: Hide, session: Session): Session => ({
  ...(session.send === undefined
    ? {}
    : {
        send: async (message, signal, took) =>
          outcomeWithout(hide, await kept(hide, session.send!(message, signal, took && storablePart(took)))),
      }),
  ...(session.max_concurrent_sends === undefined ? {} : { max_concurrent_sends: session.max_concurrent_sends }),
  ended: session.ended.then((end) => answerWithout(hide, end)),
  close: (signal) => session.close(signal),
})
