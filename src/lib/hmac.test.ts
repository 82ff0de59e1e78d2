/** Signatures match published test vectors. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hmac, hmacHex, hmacKey } from './hmac.ts'

test('a signature is the HMAC-SHA256 of all parts (RFC 4231, test cases 1, 2 and 6)', () => {
  const cases: [string | Buffer, string, string][] = [
    [Buffer.alloc(20, 0x0b), 'Hi There', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
    ['Jefe', 'what do ya want for nothing?', '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'],
    [
      Buffer.alloc(131, 0xaa),
      'Test Using Larger Than Block-Size Key - Hash Key First',
      '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    ],
  ]
  for (const [bytes, text, expected] of cases) {
    const key = typeof bytes === 'string' ? bytes : hmacKey(bytes)
    assert.equal(hmacHex(key, text), expected)
    assert.equal(hmacHex(key, text.slice(0, 3), Buffer.from(text.slice(3))), expected)
    assert.equal(hmac(key, 'base64', text), Buffer.from(expected, 'hex').toString('base64'))
  }
})
