/** Encryption, rotation and the keyed hash, without a database. */
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { makeSecrets } from './secrets.ts'

const newKey = () => randomBytes(32).toString('base64')

test('a text decrypts to itself, and encrypts differently each time', () => {
  const secrets = makeSecrets({ current: newKey(), previous: [] }, randomBytes(32))
  for (const text of ['', 'whsec_abc', 'ünïcödé 🎺', 'x'.repeat(10_000)])
    assert.equal(secrets.open(secrets.seal(text)), text)
  assert.notEqual(secrets.seal('a'), secrets.seal('a'))
  assert.ok(!secrets.seal('whsec_abc').includes('whsec'))
})

test('a previous key can open, and only the current one seals', () => {
  const old = newKey()
  const sealed = makeSecrets({ current: old, previous: [] }, randomBytes(32)).seal('kept')
  const rotated = makeSecrets({ current: newKey(), previous: [old] }, randomBytes(32))
  assert.equal(rotated.open(sealed), 'kept')
  assert.equal(rotated.isCurrent(sealed), false)
  assert.equal(rotated.isCurrent(rotated.seal('kept')), true)
})

test('an altered text, a truncated tag and an unknown key are refused', () => {
  const secrets = makeSecrets({ current: newKey(), previous: [] }, randomBytes(32))
  const sealed = secrets.seal('kept')
  const flipped = sealed.slice(0, -2) + (sealed.endsWith('AA') ? 'BB' : 'AA')
  assert.throws(() => secrets.open(flipped))
  assert.throws(() => secrets.open(sealed.slice(0, sealed.lastIndexOf('.') + 20)))
  assert.throws(() => makeSecrets({ current: newKey(), previous: [] }, randomBytes(32)).open(sealed), /not among/)
  assert.throws(() => makeSecrets({ current: 'short', previous: [] }, randomBytes(32)), /32 bytes/)
})

test('the keyed hash is 22 characters, stays the same after a rotation and differs by hash key', () => {
  const hashKey = randomBytes(32)
  const before = makeSecrets({ current: newKey(), previous: [] }, hashKey)
  const after = makeSecrets({ current: newKey(), previous: [] }, hashKey)
  assert.match(before.keyedHash('+4915112345678'), /^[A-Za-z0-9_-]{22}$/)
  assert.equal(before.keyedHash('+4915112345678'), after.keyedHash('+4915112345678'))
  assert.notEqual(
    before.keyedHash('a'),
    makeSecrets({ current: newKey(), previous: [] }, randomBytes(32)).keyedHash('a'),
  )
})
