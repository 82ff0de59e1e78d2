import assert from 'node:assert/strict'
import test from 'node:test'
import { isKeyText, keyHash, newKey } from './keys.ts'

test('a key has its prefix, 32 characters of entropy and a checksum', () => {
  const key = newKey('live')

  assert.match(key, /^svc_live_[0-9A-Za-z]{38}$/)
  assert.ok(isKeyText(key))
  assert.notEqual(newKey('live'), newKey('live'))
})

test('text with one character changed, missing or added is not a key', () => {
  const key = newKey('test', (size) => new Uint8Array(size).map((_, i) => i * 7))

  for (let at = 0; at < key.length; at++) {
    assert.equal(isKeyText(key.slice(0, at) + key.slice(at + 1)), false)
    assert.equal(isKeyText(`${key.slice(0, at)}${key[at] === 'x' ? 'y' : 'x'}${key.slice(at + 1)}`), false)
  }
  assert.deepEqual([`${key}x`, `${key} `, '', 'svc_test_', key.replace('test', 'src')].map(isKeyText), [
    false,
    false,
    false,
    false,
    false,
  ])
})

test('the stored hash does not reveal the key', () => {
  assert.match(keyHash(newKey('live')), /^[0-9a-f]{64}$/)
})
