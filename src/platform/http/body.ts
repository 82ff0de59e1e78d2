/** Reads request bodies within limits, and parses them as strict UTF-8 JSON (behaviour: conventions 4). */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Detail } from '../../api/errors.ts'
import { limits } from '../../api/limits.ts'
import { invalid, Problem, throwFailures } from '../../api/problem.ts'
import { cutPath } from '../../api/refusal-size.ts'
import { join } from '../../api/validation.ts'
import { replaceLongIntegers } from '../../lib/json.ts'
import { boundExceeded, type JsonBounds } from '../../lib/json-size.ts'
import { type Admission, type BodyBudget, type BodyReservation } from './body-budget.ts'

const empty = Buffer.alloc(0)

/** Many clients read the response only after they have written the whole body. */
const discardedBytesMax = 64 * 1024 * 1024

export interface BodyBounds extends JsonBounds {
  readonly bytes_max: number
}

/** The body of one request. Its memory counts against `budget` until `done`, which the request calls when it ends. */
export class Body {
  readonly #request: IncomingMessage
  readonly #bounds: BodyBounds
  readonly #budget: BodyBudget
  #admission: Admission | undefined

  constructor(request: IncomingMessage, bounds: BodyBounds, budget: BodyBudget) {
    this.#request = request
    this.#bounds = bounds
    this.#budget = budget
  }

  /**
   * Resolves when the body may be parsed. Rejects with `payload_too_large` or `parameter_invalid` over the bounds, and
   * when the budget evicts this body.
   */
  async read(sender: string): Promise<Buffer> {
    const bytes = await receive(this.#request, this.#bounds.bytes_max, this.#budget, sender)
    if (bytes.length === 0) return bytes
    const turn = this.#budget.enter(sender, bytes.length)
    this.#admission = turn instanceof Promise ? await this.#waitFor(turn, sender, bytes.length) : turn
    requireBounded(bytes, this.#bounds)
    return bytes
  }

  async #waitFor(turn: Promise<Admission>, sender: string, length: number): Promise<Admission> {
    return await new Promise((resolve, reject) => {
      let evicted = false
      const reservation = this.#budget.reserve(sender, (problem) => {
        evicted = true
        reject(problem)
      })
      reservation.grow(length)
      void turn.then((admission) => {
        reservation.release()
        if (evicted) admission.done()
        else resolve(admission)
      })
    })
  }

  /** It needs no more time of the thread, although the request waits for the database. */
  checked(): void {
    this.#admission?.checked()
  }

  done(): void {
    this.#admission?.done()
    this.#admission = undefined
  }
}

/** Counted on the bytes, since parsing a refused body would take many times as long. */
function requireBounded(bytes: Buffer, bounds: BodyBounds): void {
  const exceeded = boundExceeded(bytes, bounds)
  if (exceeded === 'members')
    throw tooMany(
      `The body has more than ${bounds.members_max} fields and array items in all, which is the limit of this operation. Send less in one request.`,
    )
  if (exceeded === 'names')
    throw tooMany(
      `The body has more than ${bounds.names_max} different field names. Use the same names in all items, or send less in one request.`,
    )
}

/** For a body as a whole, which has no path. */
export const tooMany = (message: string): Problem =>
  new Problem('parameter_invalid', message, { details: [{ param: '', code: 'too_many', message }] })

function receive(request: IncomingMessage, bytesMax: number, budget: BodyBudget, sender: string): Promise<Buffer> {
  const declared = request.headers['content-length']
  if (declared === '0' || (declared === undefined && request.headers['transfer-encoding'] === undefined))
    return Promise.resolve(empty)
  const length = Number(declared)
  return new Promise((resolve, reject) => {
    let open = true
    let collected: ChunkBuffer | undefined = length > bytesMax ? undefined : new ChunkBuffer()
    let size = 0
    let reserved: BodyReservation | undefined
    const close = () => {
      open = false
      collected = undefined
      reserved?.release()
    }
    const refuse = (problem: Problem) => {
      close()
      reject(problem)
    }
    const onData = (chunk: Buffer) => {
      if (!open) return
      size += chunk.length
      if (size > bytesMax) {
        collected = undefined
        reserved?.release()
      }
      if (collected !== undefined) {
        collected.add(chunk)
        if (size !== length) reserved ??= budget.reserve(sender, refuse)
        reserved?.grow(chunk.length)
      } else if (size > discardedBytesMax) refuse(tooLarge(bytesMax))
    }
    const onEnd = () => {
      if (!open) return
      const whole = collected?.whole()
      close()
      if (whole === undefined) reject(tooLarge(bytesMax))
      else resolve(whole)
    }
    const onBroken = () => {
      if (open) refuse(new Problem('invalid_json', 'The body ended before it was complete. Send it again.'))
    }
    request.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken)
  })
}

/** One growing buffer: many tiny chunks would take a hundred times their size. */
class ChunkBuffer {
  #bytes: Buffer = empty
  #size = 0

  add(chunk: Buffer): void {
    const size = this.#size + chunk.length
    if (this.#size === 0) this.#bytes = chunk
    else {
      if (size > this.#bytes.length) {
        const grown = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.#bytes.length))
        this.#bytes.copy(grown, 0, 0, this.#size)
        this.#bytes = grown
      }
      chunk.copy(this.#bytes, this.#size)
    }
    this.#size = size
  }

  whole(): Buffer {
    return this.#bytes.subarray(0, this.#size)
  }
}

const tooLarge = (bytesMax: number): Problem =>
  new Problem(
    'payload_too_large',
    `The body is larger than ${bytesMax / 1024} KB, which is what this endpoint takes. Send less in one request.`,
  )

// blanks have one place only: two adjacent optional runs would backtrack quadratically on hostile headers
const jsonType =
  /^application\/json[ \t]*(?:;[ \t]*(?:(?:charset="?(?:utf-?8|us-ascii)"?|(?!charset=)[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"[^"\\]*"))[ \t]*)?)*$/i

export const isJsonType = (type: string | undefined): boolean =>
  type === 'application/json' || (type !== undefined && jsonType.test(type))

export const isPlainEncoding = (encoding: string | undefined): boolean =>
  encoding === undefined || /^(identity)?$/i.test(encoding.trim())

/** Replaces an item with values that no field may contain; paths start at the item. */
export class UnfitItem {
  readonly details: readonly [Detail, ...Detail[]]
  constructor(details: readonly [Detail, ...Detail[]]) {
    this.details = details
  }
}

export interface ItemsApart {
  readonly field: string
  readonly items_max: number
}

/** Throws `invalid_json` and `parameter_invalid`. An invalid item of the array `apart` becomes an `UnfitItem`. */
export function parseBody(bytes: Buffer, apart?: ItemsApart): Record<string, unknown> {
  if (bytes.length === 0) throw new Problem('invalid_json', 'The body is empty. Send a JSON object.')
  if (!isUtf8(bytes)) throw new Problem('invalid_json', 'The body is not valid UTF-8. Encode it as UTF-8.')
  const text = bytes.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Problem(
      'invalid_json',
      `The body is not valid JSON: ${error instanceof Error ? error.message.slice(0, 200) : 'it cannot be parsed'}.`,
    )
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Problem('parameter_invalid', 'The body must be a JSON object, not another kind of JSON value.')
  }
  const withEscapes = text.includes('\\u')
  try {
    return checkedBody(value as Record<string, unknown>, { withEscapes, exact: false }, apart)
  } catch (error) {
    if (error !== mayHaveLostDigits) throw error
    return checkedBody(
      JSON.parse(withLostDigitsMarked(text)) as Record<string, unknown>,
      { withEscapes: true, exact: true },
      apart,
    )
  }
}

interface Reading {
  /** Without `\u` escapes, no NUL or lone surrogate passes JSON and UTF-8. */
  readonly withEscapes: boolean
  readonly exact: boolean
}

/** Only then the text is parsed a second time. */
const mayHaveLostDigits = new Error('an integer may have lost digits')

const lostDigits = '\0lost digits'
const lostDigitsAsJson = JSON.stringify(lostDigits)

const withLostDigitsMarked = (text: string): string => replaceLongIntegers(text, () => lostDigitsAsJson)

function checkedBody(
  body: Record<string, unknown>,
  reading: Reading,
  apart: ItemsApart | undefined,
): Record<string, unknown> {
  const items = apart === undefined ? undefined : body[apart.field]
  if (!Array.isArray(items)) requireFit(body, reading)
  else {
    requireFit({ ...body, [apart!.field]: null }, reading)
    for (const [i, item] of items.slice(0, apart!.items_max).entries()) items[i] = checkedItem(item, reading)
  }
  return body
}

function checkedItem(item: unknown, reading: Reading): unknown {
  if (item === lostDigits) return null
  if (typeof item !== 'object' || item === null) return item
  const [first, ...rest] = unfitIn(item, reading)
  return first === undefined ? item : new UnfitItem([first, ...rest])
}

/** For too deep nesting, and texts or numbers that cannot be stored unchanged. */
function requireFit(value: object, reading: Reading): void {
  throwFailures(unfitIn(value, reading))
}

const detailsMax = limits.error_details_collected_max

function unfitIn(value: object, reading: Reading): Detail[] {
  const details: Detail[] = []
  try {
    search(value, '', 1, reading, details)
    return details
  } catch (error) {
    if (error instanceof Problem && error.details !== undefined) return [...error.details]
    throw error
  }
}

function search(value: unknown, path: string, depth: number, reading: Reading, details: Detail[]): void {
  if (value === lostDigits && reading.exact) {
    details.push({
      param: path,
      code: 'invalid_value',
      message: `\`${path}\` has more digits than a JSON number can represent. Send it as a string.`,
    })
  } else if (typeof value === 'string') {
    if (reading.withEscapes) checkText(value, path, details)
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value))
      details.push({
        param: path,
        code: 'invalid_value',
        message: `\`${path}\` is a number that cannot be stored exactly. Send it as a string.`,
      })
    else if (!reading.exact && Number.isInteger(value) && !Number.isSafeInteger(value)) throw mayHaveLostDigits
  } else if (typeof value === 'object' && value !== null) {
    if (depth > limits.json_depth)
      throw invalid(path, 'invalid_value', `\`${path}\` is nested deeper than ${limits.json_depth} levels. Flatten it.`)
    if (Array.isArray(value))
      for (let i = 0; i < value.length && details.length < detailsMax; i++)
        searchItem(value[i], path, i, depth, reading, details)
    else searchFields(value as Record<string, unknown>, path, depth, reading, details)
  }
}

/** Without escapes only objects and unusual numbers need their path. */
const isWorthALook = (value: unknown): boolean =>
  typeof value === 'number' ? !Number.isSafeInteger(value) : typeof value === 'object' || value === lostDigits

function searchItem(
  item: unknown,
  path: string,
  index: number,
  depth: number,
  reading: Reading,
  details: Detail[],
): void {
  if (isWorthALook(item) || reading.withEscapes) search(item, cutPath(`${path}[${index}]`), depth + 1, reading, details)
}

function searchFields(
  fields: Record<string, unknown>,
  path: string,
  depth: number,
  reading: Reading,
  details: Detail[],
): void {
  for (const key in fields) {
    if (details.length >= detailsMax) return
    const value = fields[key]
    if (reading.withEscapes) checkText(key, join(path, key), details)
    if (reading.withEscapes || isWorthALook(value)) search(value, join(path, key), depth + 1, reading, details)
  }
}

export function checkText(text: string, param: string, details: Detail[]): void {
  if (details.length >= detailsMax) return
  if (text.includes('\0'))
    details.push({
      param: printable(param),
      code: 'invalid_value',
      message: `\`${printable(param)}\` contains the NUL character. Remove it.`,
    })
  else if (!text.isWellFormed())
    details.push({
      param: printable(param),
      code: 'invalid_value',
      message: `\`${printable(param)}\` contains half of a surrogate pair. Send whole characters.`,
    })
}

const printable = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD')
