/** Signatures: the same as those of OpenSSL, for every key and text. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { hmac, hmacHex, hmacKey } from './hmac.ts'

const expected = (
  key: string | Buffer,
  parts: readonly (string | Buffer)[],
  encoding: 'hex' | 'base64' | 'base64url',
) => {
  const whole = createHmac('sha256', key)
  for (const part of parts) whole.update(part)
  return whole.digest(encoding)
}

test('a signature is the HMAC-SHA256 of all parts, whatever the length of key and text', () => {
  const text = 'aä€😀'.repeat(8000)
  for (const keySize of [0, 1, 32, 63, 64, 65, 200]) {
    const key = Buffer.alloc(keySize, keySize)
    for (const size of [0, 1, 55, 56, 64, 1000, 8100, 21_800, 40_000]) {
      const parts = ['1700000000.', Buffer.from(text.slice(0, size)), text.slice(size, size * 2)]
      for (const encoding of ['hex', 'base64', 'base64url'] as const)
        assert.equal(
          hmac(hmacKey(key), encoding, ...parts),
          expected(key, parts, encoding),
          `${keySize} ${size} ${encoding}`,
        )
    }
  }
})

test('a key made ready signs the same twice, and as its text does', () => {
  const key = hmacKey('whsec_ä')
  const signed = [hmacHex(key, 'one'), hmacHex(key, 'two'), hmacHex(key, 'one'), hmacHex('whsec_ä', 'one')]

  assert.deepEqual(
    signed,
    ['one', 'two', 'one', 'one'].map((text) => expected('whsec_ä', [text], 'hex')),
  )
})
