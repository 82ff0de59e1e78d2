/** The request body: read up to a limit, decoded as strict UTF-8 JSON, and searched for what no field may hold (behaviour: conventions 4). */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Detail } from '../../api/errors.ts'
import { limits } from '../../api/limits.ts'
import { invalid, Problem, throwFailures } from '../../api/problem.ts'
import { cutPath } from '../../api/refusal-size.ts'
import { join } from '../../api/validation.ts'
import { replaceLongIntegers } from '../../lib/long-integers.ts'
import type { BodyPlace, BodyRoom } from './body-room.ts'

const empty = Buffer.alloc(0)

/** A body over its limit is thrown away up to here before the answer, because many clients read only once they have written. */
const discardedBytesMax = 64 * 1024 * 1024

/**
 * The whole body. Rejects with `payload_too_large` when it is over the limit; then nothing of it is kept. What has come of it takes up room of
 * `sender`; where others need that, it is given up with the refusal of the room.
 */
export function readBody(request: IncomingMessage, bytesMax: number, room: BodyRoom, sender: string): Promise<Buffer> {
  const declared = request.headers['content-length']
  if (declared === '0' || (declared === undefined && request.headers['transfer-encoding'] === undefined))
    return Promise.resolve(empty)
  const length = Number(declared)
  return new Promise((resolve, reject) => {
    let open = true
    let kept: Gathered | undefined = length > bytesMax ? undefined : new Gathered()
    let size = 0
    let place: BodyPlace | undefined
    // what comes after that is read and dropped
    const close = () => {
      open = false
      kept = undefined
      place?.leave()
    }
    const refuse = (problem: Problem) => {
      close()
      reject(problem)
    }
    const onData = (chunk: Buffer) => {
      if (!open) return
      size += chunk.length
      if (size > bytesMax) {
        kept = undefined
        place?.leave()
      }
      if (kept !== undefined) {
        kept.add(chunk)
        // nearly every body comes as one, and needs no room to wait in
        if (size !== length) place ??= room.enter(sender, refuse)
        place?.grow(chunk.length)
      } else if (size > discardedBytesMax) refuse(tooLarge(bytesMax))
    }
    const onEnd = () => {
      if (!open) return
      const whole = kept?.whole()
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

/** Bytes as they come. Most bodies come as one; one in very many small pieces would take a hundred times its size if each were kept. */
class Gathered {
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

// each blank has one place only, for a header is a stranger's: two adjoining runs of blanks would try every way to part them
const jsonType =
  /^application\/json[ \t]*(?:;[ \t]*(?:(?:charset="?(?:utf-?8|us-ascii)"?|(?!charset=)[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"[^"\\]*"))[ \t]*)?)*$/i

/** True for the content type of JSON in UTF-8, with or without its charset and parameters that mean nothing here. */
export const isJsonType = (type: string | undefined): boolean =>
  type === 'application/json' || (type !== undefined && jsonType.test(type))

/** True where the body is not packed. */
export const isPlainEncoding = (encoding: string | undefined): boolean =>
  encoding === undefined || /^(identity)?$/i.test(encoding.trim())

/** Stands in the place of an item that holds what no field may; paths start at the item. */
export class UnfitItem {
  readonly details: readonly [Detail, ...Detail[]]
  constructor(details: readonly [Detail, ...Detail[]]) {
    this.details = details
  }
}

/** An array of the body whose items are judged each on its own, up to `items_max` of them: whoever sends more is refused as a whole. */
export interface ItemsApart {
  readonly field: string
  readonly items_max: number
}

/**
 * The JSON object of a body. Throws `invalid_json`, or `parameter_invalid` for JSON that is no object or holds what no field may.
 * Among the items of `apart` such an item becomes an `UnfitItem` instead, so that it does not take its neighbours along.
 */
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
    return judged(value as Record<string, unknown>, { withEscapes, exact: false }, apart)
  } catch (error) {
    if (error !== digitsInDoubt) throw error
    return judged(
      JSON.parse(withLostDigitsMarked(text)) as Record<string, unknown>,
      { withEscapes: true, exact: true },
      apart,
    )
  }
}

/** What is known of the text that a value was read from. */
interface Reading {
  /** It has `\u` escapes, by which alone control characters and surrogates get past JSON and UTF-8. */
  readonly withEscapes: boolean
  /** Integers that lost digits have been marked; every other one is as it was written. */
  readonly exact: boolean
}

/** Thrown once an integer turns up that may have lost digits: the text has to be read again to know, which almost none needs. */
const digitsInDoubt = new Error('an integer may have lost digits')

/** Stands in the place of an integer that a number cannot keep: it would come back with other digits. A text with NUL is refused in any case. */
const lostDigits = '\0lost digits'
const lostDigitsAsJson = JSON.stringify(lostDigits)

const withLostDigitsMarked = (text: string): string => replaceLongIntegers(text, () => lostDigitsAsJson)

function judged(
  body: Record<string, unknown>,
  reading: Reading,
  apart: ItemsApart | undefined,
): Record<string, unknown> {
  const items = apart === undefined ? undefined : body[apart.field]
  if (!Array.isArray(items)) refuseUnfit(body, reading)
  else {
    refuseUnfit({ ...body, [apart!.field]: null }, reading)
    for (const [i, item] of items.slice(0, apart!.items_max).entries()) items[i] = fitOrNot(item, reading)
  }
  return body
}

function fitOrNot(item: unknown, reading: Reading): unknown {
  if (item === lostDigits) return null
  if (typeof item !== 'object' || item === null) return item // no object at all, whatever it holds
  const [first, ...rest] = unfitIn(item, reading)
  return first === undefined ? item : new UnfitItem([first, ...rest])
}

/** Throws when a value is nested too deeply, or a text or number in it cannot be stored or returned unchanged. */
function refuseUnfit(value: object, reading: Reading): void {
  throwFailures(unfitIn(value, reading))
}

const detailsMax = limits.error_details_collected_max

/** What of a value cannot be kept. Of one that is nested too deeply that alone is told. */
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
      message: `\`${path}\` has more digits than a JSON number keeps. Send it as a string.`,
    })
  } else if (typeof value === 'string') {
    if (reading.withEscapes) checkText(value, path, details)
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value))
      details.push({
        param: path,
        code: 'invalid_value',
        message: `\`${path}\` is a number beyond what can be kept. Send it as a string.`,
      })
    else if (!reading.exact && Number.isInteger(value) && !Number.isSafeInteger(value)) throw digitsInDoubt
  } else if (typeof value === 'object' && value !== null) {
    if (depth > limits.json_depth)
      throw invalid(path, 'invalid_value', `\`${path}\` is nested deeper than ${limits.json_depth} levels. Flatten it.`)
    if (Array.isArray(value))
      for (let i = 0; i < value.length && details.length < detailsMax; i++)
        searchItem(value[i], path, i, depth, reading, details)
    else searchFields(value as Record<string, unknown>, path, depth, reading, details)
  }
}

function searchItem(
  item: unknown,
  path: string,
  index: number,
  depth: number,
  reading: Reading,
  details: Detail[],
): void {
  if (typeof item === 'object' || typeof item === 'number' || reading.withEscapes)
    search(item, cutPath(`${path}[${index}]`), depth + 1, reading, details)
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
    if (reading.withEscapes || typeof value === 'object' || typeof value === 'number')
      search(value, join(path, key), depth + 1, reading, details)
  }
}

/** Adds the failure of a text that PostgreSQL or UTF-8 cannot hold. */
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
