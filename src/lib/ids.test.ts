import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idFloor, idMaker, idTime } from './ids.ts'

const at = Date.UTC(2026, 10, 21, 12, 34, 56, 789)
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

function bitsOf(id: string): string {
  let value = 0n
  for (const digit of id.slice(id.indexOf('_') + 1)) value = value * 32n + BigInt(alphabet.indexOf(digit))
  return value.toString(16).padStart(32, '0')
}

test('an id is a UUIDv7 in base 32 after its prefix', () => {
  let next = 0
  const ids = idMaker({ now: () => at, sleep: () => Promise.resolve() }, (bytes) => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = next = (next * 131 + 89) % 256
  })
  for (let n = 0; n < 500; n++) {
    const id = ids('msg')
    assert.match(id, /^msg_0[0-9a-hjkmnp-tv-z]{25}$/)
    assert.match(bitsOf(id), new RegExp(`^${at.toString(16).padStart(12, '0')}7[0-9a-f]{3}[89ab][0-9a-f]{15}$`))
    assert.equal(idTime(id), at)
  }
})

test('ids of one process are unique and sorted, also within a millisecond', () => {
  let now = at
  const ids = idMaker({ now: () => now, sleep: () => Promise.resolve() })
  const made = Array.from({ length: 20_000 }, (_, n) => {
    if (n % 3000 === 2999) now += n % 2 === 0 ? 1 : -1
    return ids('evt')
  })
  assert.deepEqual(made.toSorted(), made)
  assert.equal(new Set(made).size, made.length)
})

test('ids use the time of a clock that was set back, so that they stay within a second of `created_at`', () => {
  let now = at
  const ids = idMaker({ now: () => now, sleep: () => Promise.resolve() })
  ids('msg')
  now = at - 3600_000

  const first = ids('msg')
  const second = ids('msg')

  assert.equal(idTime(first), now)
  assert.ok(first < second)
})

test('the floor of a millisecond is its smallest id', () => {
  assert.equal(bitsOf(idFloor('msg', at)), at.toString(16).padStart(12, '0').padEnd(32, '0'))
  assert.equal(bitsOf(idFloor('msg', 0)), '0'.repeat(32))
  const ids = idMaker({ now: () => at, sleep: () => Promise.resolve() })
  assert.ok(idFloor('msg', at) < ids('msg'))
  assert.ok(ids('msg') < idFloor('msg', at + 1))
})
