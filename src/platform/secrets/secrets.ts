/** Encrypts secrets (AES-256-GCM) under the key of the installation, and hashes suppressed addresses. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { OperatorError } from '../../lib/operator-error.ts'
import { hmac, hmacKey } from '../../lib/hmac.ts'
import type { Db } from '../database/sql.ts'

export interface Secrets {
  /** The result names the key, for rotations. */
  seal(plain: string): string
  /** Throws if the key is unknown or the text was altered. */
  open(sealed: string): string
  /** False for a text under an earlier key. */
  isCurrent(sealed: string): boolean
  /** HMAC-SHA256 as 22 base64url characters. Survives a rotation of the secret key. */
  keyedHash(text: string): string
}

export interface SecretKeys {
  readonly current: string
  /** For decryption only (POSTHORN_PREVIOUS_SECRET_KEYS). */
  readonly previous: readonly string[]
}

const ivBytes = 12
const tagBytes = 16
const keyCheckText = 'posthorn'

/** The current one first. Throws for a key that is not 32 bytes in base64. */
function keyRing(keys: SecretKeys): Map<string, Buffer> {
  const ring = new Map<string, Buffer>()
  for (const text of [keys.current, ...keys.previous]) {
    const key = Buffer.from(text, 'base64')
    if (key.length !== 32 || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(text))
      throw new Error('a secret key is not 32 bytes in base64: make one with `openssl rand -base64 32`')
    ring.set(createHash('sha256').update(key).digest('base64url').slice(0, 8), key)
  }
  return ring
}

export function makeSecrets(keys: SecretKeys, hashKey: Buffer): Secrets {
  const addressKey = hmacKey(hashKey)
  const ring = keyRing(keys)
  const [currentId, currentKey] = ring.entries().next().value!
  return {
    seal(plain) {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv('aes-256-gcm', currentKey, iv)
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return `v1.${currentId}.${Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url')}`
    },
    open(sealed) {
      const [version, keyId, payload] = sealed.split('.')
      if (version !== 'v1' || keyId === undefined || payload === undefined)
        throw new Error('a sealed text is not of the form v1.<key id>.<text>')
      const key = ring.get(keyId)
      if (key === undefined)
        throw new Error(
          `a secret was sealed under the key ${keyId}, which is not among POSTHORN_SECRET_KEY and POSTHORN_PREVIOUS_SECRET_KEYS`,
        )
      const bytes = Buffer.from(payload, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
      decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
      return decipher.update(bytes.subarray(ivBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8')
    },
    isCurrent: (sealed) => sealed.split('.')[1] === currentId,
    keyedHash: (text) => hmac(addressKey, 'base64url', text).slice(0, 22),
  }
}

/**
 * First use stores a proof of the key and a random hash key; later a wrong key is refused. A rotation re-encrypts both.
 */
export async function openSecrets(sql: Db, keys: SecretKeys): Promise<Secrets> {
  const sealer = makeSecrets(keys, randomBytes(32))
  const [row] = await sql<{ key_check: string; address_hash_key: string }[]>`
    update installation
    set key_check = coalesce(key_check, ${sealer.seal(keyCheckText)}),
      address_hash_key = coalesce(address_hash_key, ${sealer.seal(randomBytes(32).toString('base64'))})
    returning key_check, address_hash_key`
  if (row === undefined) throw new Error('the database has no row in `installation`; run `posthorn migrate` first')
  const hashKey = verifiedHashKey(sealer, row)
  if (!sealer.isCurrent(row.key_check) || !sealer.isCurrent(row.address_hash_key)) {
    await sql`
      update installation
      set key_check = ${sealer.seal(keyCheckText)}, address_hash_key = ${sealer.seal(hashKey)}
      where key_check = ${row.key_check}`
  }
  return makeSecrets(keys, Buffer.from(hashKey, 'base64'))
}

export const requireMatchingKey = (keys: SecretKeys, row: { key_check: string; address_hash_key: string }): void =>
  void verifiedHashKey(makeSecrets(keys, randomBytes(32)), row)

export function haveSameHashKey(
  keys: SecretKeys,
  row: { key_check: string; address_hash_key: string },
  other: typeof row,
): boolean {
  const sealer = makeSecrets(keys, randomBytes(32))
  return verifiedHashKey(sealer, row) === verifiedHashKey(sealer, other)
}

function verifiedHashKey(sealer: Secrets, row: { key_check: string; address_hash_key: string }): string {
  try {
    if (sealer.open(row.key_check) === keyCheckText) return sealer.open(row.address_hash_key)
  } catch {
    throw new OperatorError(
      'POSTHORN_SECRET_KEY does not fit this database: start with the key that the database was set up with, or name that key in POSTHORN_PREVIOUS_SECRET_KEYS.',
    )
  }
  throw new Error('the proof of the secret key in `installation` is damaged')
}
