/** Reads the JSON payload of a shop's webhook. */
import { isUtf8 } from 'node:buffer'
import { limits } from '../api/limits.ts'
import { Problem } from '../api/problem.ts'
import { isObject, replaceLongIntegers, storable, type Fields } from '../lib/json.ts'

const mayLoseDigits = /[:,[]\s*-?\d{16}/

const depthMax = limits.json_depth - 2

/**
 * Repairs what an API request may not contain (Shopify's test payloads have huge IDs). Throws `invalid_json` and
 * `parameter_invalid`.
 */
export function readPayload(body: Uint8Array): Fields {
  if (body.length === 0) throw new Problem('invalid_json', 'The body is empty. A webhook carries a JSON object.')
  if (!isUtf8(body)) throw new Problem('invalid_json', 'The body is not valid UTF-8. Encode it as UTF-8.')
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
  const payload = storable(parsed(withLongIntegersAsTexts(text)), depthMax)
  if (!isObject(payload))
    throw new Problem('parameter_invalid', 'The body must be a JSON object, not another kind of JSON value.')
  return payload
}

const withLongIntegersAsTexts = (text: string): string =>
  mayLoseDigits.test(text) ? replaceLongIntegers(text, (token) => JSON.stringify(token)) : text

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Problem(
      'invalid_json',
      `The body is not valid JSON: ${error instanceof Error ? error.message.slice(0, 200) : 'it cannot be parsed'}.`,
    )
  }
}
