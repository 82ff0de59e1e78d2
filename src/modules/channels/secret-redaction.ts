/**
 * Removes credentials from everything that adapters return or reject with, because providers and proxies may echo
 * requests.
 */
import { isObject } from '../../lib/json.ts'
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
import { storableOutcome, storableOnPartAccepted, storableItem, storableQueryResult } from './storable-results.ts'

type Redact = (text: string) => string

const placeholder = '[hidden]'
/** Shorter secrets would match parts of ordinary words. */
const lengthMin = 4
/** Shorter secrets are removed only as whole words. */
const longLengthMin = 8
const wordCharacter = String.raw`[\p{L}\p{N}]`
const urls = /\bhttps?:\/\/[^\s"'<>]+/gi
const userInfo = /(?<=^https?:\/\/)[^/?#@]*@/i
const secretParameters = /([?&][^=&#]*(?:token|key|secret|pass|sign?|auth|hash|credential)[^=&#]*=)[^&#]*/gi

export function withRedactedSecrets(
  provider: Pick<Provider, 'credentials'>,
  adapter: ProviderAdapter,
): ProviderAdapter {
  const redactorOf = ({ credentials }: Connection): Redact => {
    // created only if there is a text
    let redact: Redact | undefined
    return (text) => (redact ??= redactor(provider, credentials))(text)
  }
  const methods = bound(adapter)
  return { ...adapter, ...redactedMessaging(methods, redactorOf), ...redactedSetup(methods, redactorOf) }
}

type RedactorOf = (connection: Connection) => Redact

const redactedMessaging = (
  { send, queryStatus, receiveCallback, fetchMedia }: ProviderAdapter,
  redactorOf: RedactorOf,
): Partial<ProviderAdapter> => ({
  ...(send && {
    send: async (message, to, signal, onPartAccepted) =>
      ifPresent(
        redactorOf(to),
        redactedOutcome,
        await rethrowRedacted(
          redactorOf(to),
          send(message, to, signal, onPartAccepted && storableOnPartAccepted(onPartAccepted)),
        ),
      ),
  }),
  ...(queryStatus && {
    queryStatus: async (message, to, signal) =>
      ifPresent(
        redactorOf(to),
        redactedQueryResult,
        await rethrowRedacted(redactorOf(to), queryStatus(message, to, signal)),
      ),
  }),
  ...(receiveCallback && {
    receiveCallback: (callback, from) => ifPresent(redactorOf(from), redactedCallback, receiveCallback(callback, from)),
  }),
  ...(fetchMedia && {
    fetchMedia: (reference, of, bytes_max, signal) =>
      redactedDownload(redactorOf(of), fetchMedia(reference, of, bytes_max, signal)),
  }),
})

const redactedSetup = (
  { connect, register, disconnect, listTemplates, openSession }: ProviderAdapter,
  redactorOf: RedactorOf,
): Partial<ProviderAdapter> => ({
  ...(connect && {
    connect: async (to, signal) =>
      ifPresent(redactorOf(to), redactedMessage, await rethrowRedacted(redactorOf(to), connect(to, signal))),
  }),
  ...(register && {
    register: async (to, signal) =>
      ifPresent(redactorOf(to), redactedMessage, await rethrowRedacted(redactorOf(to), register(to, signal))),
  }),
  ...(disconnect && { disconnect: (to, signal) => rethrowRedacted(redactorOf(to), disconnect(to, signal)) }),
  ...(listTemplates && {
    listTemplates: (of, signal, name) => rethrowRedacted(redactorOf(of), listTemplates(of, signal, name)),
  }),
  ...(openSession && {
    openSession: async (to, opening) => {
      const redact = redactorOf(to)
      const opened = await rethrowRedacted(
        redact,
        openSession(to, { ...opening, store: redactedStore(redact, opening.store) }),
      )
      return opened.kind === 'open'
        ? { ...opened, session: redactedSession(redact, opened.session) }
        : redactedMessage(redact, opened)
    },
  }),
})

const bound = (adapter: ProviderAdapter): ProviderAdapter =>
  Object.fromEntries(
    Object.entries(adapter).map(([name, value]) => [
      name,
      typeof value === 'function' ? (value as () => unknown).bind(adapter) : value,
    ]),
  )

/** Also in other encodings, and credentials within addresses. */
function redactor(provider: Pick<Provider, 'credentials'>, credentials: Readonly<Record<string, unknown>>): Redact {
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
  // longest first, since one secret may begin with another
  const patterns = [...new Set(forms)].toSorted((one, other) => other.length - one.length).map(patternOf)
  return (text) =>
    patterns.reduce((left, pattern) => left.replace(pattern, placeholder), text.replace(urls, redactedUrl))
}

function patternOf(form: string): RegExp {
  const literal = form.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  return new RegExp(
    form.length >= longLengthMin ? literal : `(?<!${wordCharacter})${literal}(?!${wordCharacter})`,
    'gu',
  )
}

const redactedUrl = (url: string): string =>
  url.replace(userInfo, `${placeholder}@`).replace(secretParameters, `$1${placeholder}`)

const ifPresent = <T>(
  redact: Redact,
  without: (redact: Redact, value: NonNullable<T>) => NonNullable<T>,
  value: T,
): T => (value === null || value === undefined ? value : without(redact, value))

async function rethrowRedacted<T>(redact: Redact, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw redactedError(redact, error)
  }
}

function redactedError(redact: Redact, error: unknown): Error {
  if (!(error instanceof Error)) return new Error(redact(String(error)))
  error.message = redact(error.message)
  if (error.stack !== undefined) error.stack = redact(error.stack)
  // loggers print the cause too
  if ('cause' in error) delete error.cause
  return error
}

const redactedOutcome = (redact: Redact, outcome: Outcome): Outcome =>
  storableOutcome(outcomeWithoutSecrets(redact, outcome))

function outcomeWithoutSecrets(redact: Redact, outcome: Outcome): Outcome {
  if (outcome.kind === 'accepted')
    return outcome.later_items === undefined
      ? outcome
      : {
          ...outcome,
          later_items: outcome.later_items.map((one) => ({ ...one, item: itemWithoutSecrets(redact, one.item) })),
        }
  if (outcome.kind === 'unknown') return { ...outcome, message: redact(outcome.message) }
  const texts = redactedTexts(redact, outcome)
  return texts.kind === 'throttled' && texts.if_lasting !== undefined
    ? { ...texts, if_lasting: redactedTexts(redact, texts.if_lasting) }
    : texts
}

const redactedQueryResult = (redact: Redact, result: StatusQueryResult): StatusQueryResult =>
  storableQueryResult(queryResultWithoutSecrets(redact, result))

function queryResultWithoutSecrets(redact: Redact, result: StatusQueryResult): StatusQueryResult {
  if (result.kind === 'found') return redactedFound(redact, result)
  if (result.kind === 'candidates')
    return {
      ...result,
      found: result.found.map((one) => redactedFound(redact, one)) as [FoundMessage, ...FoundMessage[]],
    }
  return result.kind === 'refused' ? redactedTexts(redact, result) : redactedMessage(redact, result)
}

const redactedFound = <T extends FoundMessage>(redact: Redact, found: T): T =>
  found.receipt === undefined ? found : { ...found, receipt: itemWithoutSecrets(redact, found.receipt) }

const redactedTexts = <T extends { readonly message: string; readonly provider_code: string | null }>(
  redact: Redact,
  result: T,
): T => ({
  ...result,
  message: redactedText(redact, result.message),
  provider_code: redactedText(redact, result.provider_code),
})

/** The provider's value may have any type; it is validated later. */
const redactedText = <T>(redact: Redact, text: T): T => (typeof text === 'string' ? (redact(text) as T) : text)

const redactedMessage = <T extends object>(redact: Redact, answer: T): T =>
  'message' in answer && typeof answer.message === 'string' ? { ...answer, message: redact(answer.message) } : answer

const redactedItem = (redact: Redact, item: CallbackItem): CallbackItem =>
  storableItem(itemWithoutSecrets(redact, item))

/** Message contents are not changed. */
function itemWithoutSecrets<T extends CallbackItem>(redact: Redact, item: T): T {
  if (item.kind === 'delivery_receipt' && isObject(item.error))
    return { ...item, error: redactedTexts(redact, item.error) }
  return item.kind === 'connection_status' ? { ...item, message: redact(item.message) } : item
}

const redactedCallback = (redact: Redact, received: CallbackResult): CallbackResult => ({
  ...received,
  items: received.items.map((item) => redactedItem(redact, item)),
  ...(received.ignored === undefined ? {} : { ignored: redact(received.ignored) }),
})

async function redactedDownload(
  redact: Redact,
  opening: ReturnType<NonNullable<ProviderAdapter['fetchMedia']>>,
): ReturnType<NonNullable<ProviderAdapter['fetchMedia']>> {
  const { content_type, chunks } = await rethrowRedacted(redact, opening)
  return { content_type, chunks: chunksWithout(redact, chunks) }
}

async function* chunksWithout(redact: Redact, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks
  } catch (error) {
    throw redactedError(redact, error)
  }
}

const redactedStore =
  (redact: Redact, store: StoreItems): StoreItems =>
  (items, raw, ignored) =>
    store(
      items.map((item) => redactedItem(redact, item)),
      raw,
      ignored === undefined ? undefined : redact(ignored),
    )

const redactedSession = (redact: Redact, session: Session): Session => ({
  ...(session.send === undefined
    ? {}
    : {
        send: async (message, signal, onPartAccepted) =>
          redactedOutcome(
            redact,
            await rethrowRedacted(
              redact,
              session.send!(message, signal, onPartAccepted && storableOnPartAccepted(onPartAccepted)),
            ),
          ),
      }),
  ...(session.max_concurrent_sends === undefined ? {} : { max_concurrent_sends: session.max_concurrent_sends }),
  ended: session.ended.then((end) => redactedMessage(redact, end)),
  close: (signal) => session.close(signal),
})
