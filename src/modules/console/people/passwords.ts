/** Passwords: which are taken, and how they are kept: argon2id (RFC 9106) in the form of PHC strings. */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { invalid } from '../../../api/problem.ts'
import { atOnce } from '../../../lib/at-once.ts'
import { commonPasswords } from './common-passwords.ts'

const hashed = promisify(argon2)

/** 19 MiB, two passes, one worker: OWASP's first recommendation (https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html). */
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const
const tagLength = 32
const saltLength = 16
const length = { min: 12, max: 200 } as const

/** Refuses passwords that anybody would try. */
export function requirePassword(param: string, password: string): void {
  const characters = [...password.normalize('NFC')].length
  if (characters < length.min)
    throw invalid(
      param,
      'too_short',
      `A password has ${length.min} characters or more. A few words in a row are easy to keep in mind.`,
    )
  if (characters > length.max) throw invalid(param, 'too_long', `A password has ${length.max} characters at most.`)
  if (commonPasswords.has(password.toLowerCase()) || new Set(password).size < 4)
    throw invalid(param, 'invalid_value', 'This password is among the first that are tried. Choose another one.')
}

/** What is kept of a password. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(saltLength)
  const tag = await tagOf(password, nonce)
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${unpadded(nonce)}$${unpadded(tag)}`
}

/** Whether it is the password of which this was kept. With null, for somebody unknown, it takes as long and is false. */
export async function isPassword(password: string, kept: string | null): Promise<boolean> {
  const [, , , , salt, tag] = (kept ?? nobody).split('$')
  const right = Buffer.from(tag!, 'base64')
  const given = await tagOf(password, Buffer.from(salt!, 'base64'))
  return timingSafeEqual(right, given) && kept !== null
}

/** Each takes 19 MiB: only so many at once. */
const inTurn = atOnce(4)

const tagOf = async (password: string, nonce: Buffer): Promise<Buffer> =>
  await inTurn(
    async () => (await hashed('argon2id', { message: password.normalize('NFC'), nonce, tagLength, ...cost })) as Buffer,
  )

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '')

/** Of the same cost as any other, and nobody's. */
const nobody = `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${unpadded(randomBytes(saltLength))}$${unpadded(randomBytes(tagLength))}`
