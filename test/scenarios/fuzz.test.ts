/** No input to any operation causes a 5xx. */
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { requestExample } from '../../src/docs/openapi.ts'
import type { Route } from '../../src/platform/http/route.ts'
import { startWorld, type TestAccount } from '../support/world.ts'
import { effort } from '../support/effort.ts'

const runsPerOperation = effort(4, 24)

const nasty = fc.constantFrom<unknown>(
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  -1e21,
  2 ** 53,
  2 ** 31,
  '',
  ' ',
  'a'.repeat(5000),
  '\u{1F4EF}',
  "'; drop table messages; --",
  '{{first_name}}',
  '../../etc/passwd',
  '2026-02-30',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '+15005550006',
  'ch_test_whatsapp',
  'msg_01m7z10y8texgrjk0p9bvk2cq6',
  [],
  {},
  [[]],
  [null],
  { a: { b: { c: [] } } },
  { constructor: 1 },
  'constructor',
  '__proto__',
  'http://169.254.169.254/',
  'https://example.com',
  '%',
  '%00',
  '\u202E',
  '\u0085',
  'NaN',
  '1e999',
)
const anything = fc.oneof({ weight: 3, arbitrary: nasty }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) })

function mutated(example: unknown): fc.Arbitrary<unknown> {
  if (typeof example !== 'object' || example === null)
    return fc.oneof({ weight: 4, arbitrary: fc.constant(example) }, { weight: 1, arbitrary: anything })
  if (Array.isArray(example))
    return fc.oneof({ weight: 5, arbitrary: fc.tuple(...example.map(mutated)) }, { weight: 1, arbitrary: anything })
  const fields = Object.entries(example).map(([name, value]) =>
    fc.tuple(fc.constant(name), mutated(value), fc.integer({ min: 0, max: 9 })),
  )
  return fc
    .tuple(fc.tuple(...fields), fc.array(fc.tuple(fc.string({ maxLength: 12 }), anything), { maxLength: 2 }))
    .map(([kept, added]) =>
      Object.fromEntries([
        ...kept.filter(([, , odds]) => odds > 0).map(([name, value]) => [name, value] as const),
        ...added,
      ]),
    )
}

const encodeWild = (text: string): string => encodeURIComponent(text.toWellFormed())
const pathPart = fc.oneof(
  fc.constantFrom(
    'ch_test_whatsapp',
    'ch_test_sms',
    'msg_01m7z10y8texgrjk0p9bvk2cq6',
    'ct_01m7z10y8texgrjk0p9bvk2cq6',
    'x',
    '%',
    '%00',
    '%ff',
    '.',
    '..',
    '0',
  ),
  fc.string({ maxLength: 40 }).map(encodeWild),
)

function queryOf(route: Route): fc.Arbitrary<string> {
  const names = [...Object.keys(route.query?.properties ?? {}), 'nonsense', '__proto__']
  const pair = fc.tuple(
    fc.constantFrom(...names),
    fc.oneof(
      anything.map((value) => encodeWild(typeof value === 'string' ? value : JSON.stringify(value))),
      fc.constantFrom('%', '%00', '%ff', '', '2026-01-31T09:30:00+02:00'),
    ),
  )
  return fc
    .array(pair, { maxLength: 3 })
    .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`))
}

const rawBody = fc.oneof(
  { weight: 1, arbitrary: fc.string() },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '{',
      '[]',
      'null',
      '{"a":"\\u0000"}',
      '{"a":"\\ud800"}',
      '{"to":1e400}',
      '['.repeat(2000),
    ),
  },
)

function requestOf(route: Route) {
  const parts = [...route.path.matchAll(/\{\w+\}/g)].length
  const json =
    route.body === undefined
      ? anything.map((value) => JSON.stringify(value))
      : mutated(requestExample(route)).map((value) => JSON.stringify(value))
  const csv = fc
    .array(
      fc
        .array(
          // an object's `toString` may be one of its fields
          anything.map((value) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))),
          { maxLength: 4 },
        )
        .map((cells) => cells.join(',')),
      { maxLength: 4 },
    )
    .map((lines) => ['phone,email,tags', ...lines].join('\n'))
  return fc.record({
    ids: fc.array(pathPart, { minLength: parts, maxLength: parts }),
    query: fc.oneof({ weight: 1, arbitrary: fc.constant('') }, { weight: 1, arbitrary: queryOf(route) }),
    body:
      route.method === 'GET' || route.method === 'DELETE'
        ? fc.constant(undefined)
        : fc.oneof({ weight: 5, arbitrary: route.streamed === true ? csv : json }, { weight: 1, arbitrary: rawBody }),
    type: fc.oneof(
      { weight: 8, arbitrary: fc.constant(route.streamed === true ? 'text/csv' : 'application/json') },
      {
        weight: 1,
        arbitrary: fc.constantFrom('text/plain', 'multipart/form-data; boundary=x', 'multipart/form-data', 'x'),
      },
    ),
    key: fc.option(fc.constantFrom('a', 'b', 'x'.repeat(300), ' ', 'ü'), { nil: undefined }),
  })
}

test('any input to an operation gets an answer below 500 in the envelope', async (t) => {
  const world = await startWorld(t)
  const callers = {
    live: await world.account({ mode: 'live', credit_micros: 1_000_000_000 }),
    test: await world.account(),
  }

  for (const route of world.app.routes) {
    // waits for a delivery attempt by the clock, which does not advance here
    if (route.method === 'POST' && /\/(test|retry)$/.test(route.path)) continue
    await fc.assert(
      fc.asyncProperty(
        requestOf(route),
        async (request) => await answersWell(callers[route.mode ?? 'test'], route, request),
      ),
      { numRuns: runsPerOperation, endOnFailure: true },
    )
  }
  await world.invariants()
})

async function answersWell(
  caller: TestAccount,
  route: Route,
  request: { ids: string[]; query: string; body: string | Buffer | undefined; type: string; key: string | undefined },
): Promise<void> {
  let next = 0
  const path = route.path.replaceAll(/\{\w+\}/g, () => request.ids[next++]!) + request.query
  const headers: Record<string, string> = {
    'content-type': request.type,
    ...(request.key === undefined ? {} : { 'idempotency-key': request.key }),
  }
  const answer = await caller.api.send(
    route.method,
    path,
    headers,
    request.body === undefined || request.body.length === 0 ? undefined : request.body,
  )

  assert.ok(
    answer.status < 500,
    `${route.method} ${path} answered ${answer.status} to ${String(request.body).slice(0, 2000)}`,
  )
  assert.match(answer.headers['x-request-id'] ?? '', /^req_/)
  if (answer.status >= 400) {
    assert.equal(typeof answer.body.error?.code, 'string', `${route.method} ${path}`)
    assert.equal(answer.body.error.request_id, answer.headers['x-request-id'])
  }
}
