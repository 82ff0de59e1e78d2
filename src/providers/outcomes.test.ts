/** Tests both forms of `Retry-After` (https://www.rfc-editor.org/rfc/rfc9110#field.retry-after). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { retryAfterOf } from './outcomes.ts'

const date = 'Thu, 26 Nov 2026 06:00:00 GMT'

for (const { told, ms } of [
  { told: '7', ms: 7000 },
  { told: ' 1.5 ', ms: 1500 },
  { told: '86400', ms: 3_600_000 },
  { told: 'Thu, 26 Nov 2026 06:00:09 GMT', ms: 9000 },
  { told: 'Fri, 27 Nov 2026 06:00:00 GMT', ms: 3_600_000 },
  { told: 'Thu, 26 Nov 2026 05:59:59 GMT', ms: undefined },
  { told: '0', ms: undefined },
  { told: '-5', ms: undefined },
  { told: 'soon', ms: undefined },
  { told: '', ms: undefined },
])
  test(`a wait of ${JSON.stringify(told)} is ${ms ?? 'none'}${ms === undefined ? '' : ' ms'}`, () => {
    assert.equal(retryAfterOf({ date, 'retry-after': told }).retry_after_ms, ms)
  })

test("a wait until a date uses the provider's clock", () => {
  assert.deepEqual(retryAfterOf({ 'retry-after': 'Thu, 26 Nov 2026 06:00:09 GMT' }), {})
  assert.deepEqual(retryAfterOf({ date }), {})
})
