/** Parses single settings. A reader throws the words that follow the variable's name. */
import { isAddressRange } from '../platform/http/headers.ts'

export type Reader<T> = (text: string) => T

export const text: Reader<string> = (given) => given

/** Inclusive bounds. */
export const whole =
  (min: number, max: number): Reader<number> =>
  (given) => {
    const value = /^\d{1,15}$/.test(given) ? Number(given) : NaN
    if (!(value >= min && value <= max)) throw `must be a whole number from ${min} to ${max}`
    return value
  }

/** Seconds. */
export const duration: Reader<number> = (given) => {
  const value = /^\d{1,9}(\.\d+)?$/.test(given) ? Number(given) : NaN
  if (!(value >= 0 && value <= 30 * 86_400)) throw 'must be seconds, comma-separated, each from 0 to 2592000'
  return value
}

/** From 0 to 1. */
export const ratio: Reader<number> = (given) => {
  const value = /^(?:0|1|0?\.\d{1,15}|1\.0+)$/.test(given) ? Number(given) : NaN
  if (!(value >= 0 && value <= 1)) throw 'must be a number from 0 to 1'
  return value
}

export const oneOf =
  <T extends string>(values: readonly T[]): Reader<T> =>
  (given) => {
    const value = values.find((known) => known === given.toLowerCase())
    if (value === undefined) throw `must be one of ${values.join(', ')}`
    return value
  }

export const listOf =
  <T>(read: Reader<T>): Reader<readonly T[]> =>
  (given) =>
    given
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')
      .map(read)

export const keyword: Reader<string> = (given) => given.toUpperCase()

/** Without a trailing slash. */
export const url =
  (protocols: readonly string[]): Reader<string> =>
  (given) => {
    if (!protocols.includes(URL.parse(given)?.protocol ?? ''))
      throw `must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`
    return given.replace(/\/+$/, '')
  }

const loopback = ['127.0.0.1', '[::1]', 'localhost']

/** Unchanged, because it is compared with tokens. */
export const issuerUrl: Reader<string> = (given) => {
  const parsed = URL.parse(given)
  const isSafe = parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && loopback.includes(parsed.hostname))
  if (parsed === null || !isSafe || parsed.search !== '' || parsed.hash !== '' || parsed.username !== '')
    throw 'must be an https URL without a login, query or fragment, such as https://login.example.com (http on 127.0.0.1, [::1] and localhost alone)'
  return given
}

/** The bucket name is the path. */
export const bucketUrl: Reader<string> = (given) => {
  const parsed = URL.parse(given)
  if (
    parsed === null ||
    !['http:', 'https:'].includes(parsed.protocol) ||
    parsed.search !== '' ||
    parsed.hash !== '' ||
    parsed.username !== '' ||
    parsed.pathname === '/'
  )
    throw 'must be an http or https URL with a bucket as its path and without a login, such as https://s3.eu-central-1.amazonaws.com/bucket'
  return given.replace(/\/+$/, '')
}

export const databaseUrl: Reader<string> = (given) => {
  const parsed = URL.parse(given)
  if (parsed === null || !['postgres:', 'postgresql:'].includes(parsed.protocol))
    throw 'must be a URL such as postgres://user:password@host:5432/database'
  try {
    for (const part of [parsed.username, parsed.password, parsed.pathname, parsed.host]) decodeURIComponent(part)
  } catch {
    throw 'must have special characters of its user and password percent-encoded, a percent sign as %25'
  }
  return given
}

export const baseUrl: Reader<string> = (given) => {
  const parsed = URL.parse(given)
  if (
    parsed === null ||
    !['http:', 'https:'].includes(parsed.protocol) ||
    parsed.search !== '' ||
    parsed.hash !== '' ||
    parsed.username !== ''
  )
    throw 'must be an http or https URL without a query or a login, such as https://messages.example.com'
  return given.replace(/\/+$/, '')
}

export const webOrigin: Reader<string> = (given) => {
  const parsed = URL.parse(given)
  const bare = parsed !== null && ['http:', 'https:'].includes(parsed.protocol) && parsed.href === `${parsed.origin}/`
  if (!bare)
    throw 'must be origins of web pages, comma-separated, each a scheme and a host without a path, such as https://app.example.com'
  return parsed.origin
}

export const secretKey: Reader<string> = (given) => {
  if (!/^[A-Za-z0-9+/_-]{42,43}={0,2}$/.test(given) || Buffer.from(given, 'base64').length !== 32)
    throw 'must be 32 bytes in base64: make one with `openssl rand -base64 32`'
  return given
}

export const hostPort: Reader<string> = (given) => {
  const port = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+):(\d{1,5})$/i.exec(given)?.[1]
  if (port === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw 'must be host:port pairs, comma-separated, such as localhost:3000'
  return given.toLowerCase()
}

export const addressRange: Reader<string> = (given) => {
  if (!isAddressRange(given)) throw 'must be IP addresses or CIDR ranges, comma-separated'
  return given
}
