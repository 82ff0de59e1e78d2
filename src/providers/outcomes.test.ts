/** `Retry-After` (https://www.rfc-editor.org/rfc/rfc9110#field.retry-after). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { retryAfterOf } from './outcomes.ts'

const date = 'Thu, 26 Nov 2026 06:00:00 GMT'

for (const { header, ms } of [
  { header: '7', ms: 7000 },
  { header: ' 1.5 ', ms: 1500 },
  { header: '86400', ms: 3_600_000 },
  { header: 'Thu, 26 Nov 2026 06:00:09 GMT', ms: 9000 },
  { header: 'Fri, 27 Nov 2026 06:00:00 GMT', ms: 3_600_000 },
  { header: 'Thu, 26 Nov 2026 05:59:59 GMT', ms: undefined },
  { header: '0', ms: undefined },
  { header: '-5', ms: undefined },
  { header: 'soon', ms: undefined },
  { header: '', ms: undefined },
])
  test(`a wait of ${JSON.stringify(header)} is ${ms ?? 'none'}${ms === undefined ? '' : ' ms'}`, () => {
    assert.equal(retryAfterOf({ date, 'retry-after': header }).retry_after_ms, ms)
  })

test("a wait until a date uses the provider's clock", () => {
  assert.deepEqual(retryAfterOf({ 'retry-after': 'Thu, 26 Nov 2026 06:00:09 GMT' }), {})
  assert.deepEqual(retryAfterOf({ date }), {})
})
