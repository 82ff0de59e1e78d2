/** Password rules and hashing: argon2id (RFC 9106), stored as PHC strings. */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { invalid, Problem } from '../../../api/problem.ts'
import { fairTurns } from '../../../lib/concurrency.ts'
import { commonPasswords } from './common-passwords.ts'

const argon2Async = promisify(argon2)

interface Cost {
  /** KiB */
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
}

/** 19 MiB, two passes, one thread: OWASP's first recommendation (https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html). */
const currentCost: Cost = { memory: 19_456, passes: 2, parallelism: 1 }
const tagLength = 32
const saltLength = 16
const length = { min: 12, max: 200 } as const

export function requirePassword(param: string, password: string): void {
  const characters = [...password.normalize('NFC')].length
  if (characters < length.min)
    throw invalid(
      param,
      'too_short',
      `The password is too short. Choose one of ${length.min} characters or more: a few words in a row are easy to remember.`,
    )
  if (characters > length.max)
    throw invalid(param, 'too_long', `The password is longer than ${length.max} characters. Choose a shorter one.`)
  if (commonPasswords.has(password.toLowerCase()) || new Set(password).size < 4)
    throw invalid(param, 'invalid_value', 'This password is too easy to guess. Choose another one.')
}

/** Call within `hashingTurn`. */
export async function hashPassword(password: string, cost: Cost = currentCost): Promise<string> {
  const salt = randomBytes(saltLength)
  return phcString(cost, salt, await tagOf(password, salt, tagLength, cost))
}

/**
 * Call within `hashingTurn`. Uses the cost in the hash. null (unknown user) takes as long and fails. Throws if the hash
 * is not argon2id.
 */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const { cost, salt, tag } = parsePhc(stored ?? nobody)
  const computed = await tagOf(password, salt, tag.length, cost)
  return timingSafeEqual(tag, computed) && stored !== null
}

/** Hash the password again once it is known: the cost has changed. */
export function isOutdatedHash(stored: string): boolean {
  const { cost, tag } = parsePhc(stored)
  return (
    cost.memory !== currentCost.memory ||
    cost.passes !== currentCost.passes ||
    cost.parallelism !== currentCost.parallelism ||
    tag.length !== tagLength
  )
}

/**
 * Runs work that hashes a password for a client at this network (`networkOf`). Each hash takes 19 MiB. Throws
 * `rate_limit_exceeded` if too many of the network, or in all, are waiting.
 */
export const hashingTurn = fairTurns(
  { max: 4, per_key: 20, all: 400 },
  () =>
    new Problem('rate_limit_exceeded', 'Too many passwords are being checked at once. Wait a second, then repeat.', {
      headers: { 'retry-after': '1' },
    }),
)

const tagOf = async (password: string, nonce: Buffer, bytes: number, cost: Cost): Promise<Buffer> =>
  (await argon2Async('argon2id', {
    message: password.normalize('NFC'),
    nonce,
    tagLength: bytes,
    ...cost,
  })) as Buffer

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '')

const phcString = ({ memory, passes, parallelism }: Cost, salt: Buffer, tag: Buffer): string =>
  `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`

function parsePhc(stored: string): { readonly cost: Cost; readonly salt: Buffer; readonly tag: Buffer } {
  const [, memory, passes, parallelism, salt, tag] =
    /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(stored) ?? []
  if (tag === undefined) throw new Error('a stored password hash is not an argon2id PHC string')
  return {
    cost: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt!, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  }
}

/** Costs as much to check as any other hash. */
const nobody = phcString(currentCost, randomBytes(saltLength), randomBytes(tagLength))

/** For signed-in people: 400 and not 401, because the session is still valid. */
export class WrongCredentials extends Problem {
  constructor(param: string, message: string) {
    super('invalid_credentials', message, { param })
  }

  override get status(): number {
    return 400
  }
}
