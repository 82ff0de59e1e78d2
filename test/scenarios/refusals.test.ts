/** Error answers are small (behaviour: conventions 6.1, 7.6). */
import assert from 'node:assert/strict'
import { request } from 'undici'
import test from 'node:test'
import fc from 'fast-check'
import { cut } from '../../src/api/refusal-size.ts'
import { Problem } from '../../src/api/problem.ts'
import type { Detail } from '../../src/api/errors.ts'
import type { Route } from '../../src/platform/http/route.ts'
import { requestExample } from '../../src/docs/openapi.ts'
import { startWorld, type TestAccount, type World } from '../support/world.ts'
import { effort } from '../support/effort.ts'

const runsPerOperation = effort(3, 12)
const answerBytesMax = 64 * 1024
const itemBytesMax = 8 * 1024

interface RefusedError {
  readonly message: string
  readonly param?: string
  readonly details?: readonly { readonly param: string }[]
}

async function ask(
  world: World,
  { key }: TestAccount,
  method: string,
  path: string,
  body: string | undefined,
  headers: Record<string, string> = {},
) {
  const answer = await request(world.base_url + path, {
    method: method as 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    headersTimeout: 60_000,
    bodyTimeout: 60_000,
    ...(body === undefined ? {} : { body }),
  })
  const bytes = Buffer.from(await answer.body.arrayBuffer())
  const head = Object.entries(answer.headers).reduce(
    (sum, [name, value]) => sum + name.length + String(value).length + 4,
    0,
  )
  const isJson = String(answer.headers['content-type']).startsWith('application/json')
  return {
    status: answer.statusCode,
    bytes: bytes.length + head,
    json: isJson ? (JSON.parse(bytes.toString()) as Record<string, unknown>) : undefined,
  }
}

function assertSmall(error: RefusedError, what: string): void {
  assert.ok((error.details ?? []).length <= 100, what)
  for (const { param = '' } of [error, ...(error.details ?? [])])
    assert.ok(param.length <= 200, `${what}: a path of ${param.length}`)
}

function assertBounded({ status, bytes, json }: Awaited<ReturnType<typeof ask>>, what: string): void {
  if (status >= 200 && status < 300 && status !== 207) return
  if (status !== 207) {
    assert.ok(bytes <= answerBytesMax, `${what} was refused with ${bytes} bytes`)
    return assertSmall(json!['error'] as RefusedError, what)
  }
  for (const { error } of json!['data'] as { error?: RefusedError }[]) {
    if (error === undefined) continue
    assert.ok(
      Buffer.byteLength(JSON.stringify(error)) <= itemBytesMax,
      `${what} has an item refused with ${JSON.stringify(error).length} bytes`,
    )
    assertSmall(error, what)
  }
}

const times = (count: number, text: string): string => Array.from({ length: count }, () => text).join(',')

/** A key of nearly a megabyte above a hundred and twenty values that no field allows. */
const attacks: Readonly<Record<string, string>> = {
  'numbers too large': `{"${'k'.repeat(900_000)}":[${times(120, '1e999')}]}`,
  'lone surrogates': `{"${'k'.repeat(900_000)}":[${times(120, '"\\ud800"')}]}`,
  'integers of 23 digits': `{"${'k'.repeat(900_000)}":[${times(120, '12345678901234567890123')}]}`,
  'a name of control characters': `{"${'\\u0001'.repeat(150_000)}":[${times(120, '1e999')}]}`,
  'many names': `{${Array.from({ length: 4_900 }, (_, at) => `"${at}\\u0000":1e999`).join(',')}}`,
  metadata: `{"channel":"ch_test_sms","to":"+15005550006","type":"text","text":{"body":"a"},"metadata":{"${'k'.repeat(900_000)}":[${times(120, '1e999')}]}}`,
}

test('a key of a megabyte with a hundred wrong values below it is refused in a few kilobytes, at once', async (t) => {
  const world = await startWorld(t)
  const caller = await world.account()

  for (const [what, body] of Object.entries(attacks)) {
    for (const path of ['/v1/messages', '/v1/contacts', '/v1/webhook_endpoints']) {
      const answer = await ask(world, caller, 'POST', path, body)
      assert.equal(answer.status, 400, what)
      assertBounded(answer, `${path}: ${what}`)
      const { message, details } = answer.json!['error'] as Required<RefusedError>
      const more = Number(/There are (?:at least )?(\d+) more failures/.exec(message)?.[1])
      assert.ok(more >= 20 && details.length + more >= 120, `${what}: ${message}`)
    }
  }
})

test('each refused batch item has at most eight kilobytes, and counts its other errors', async (t) => {
  const world = await startWorld(t)
  const caller = await world.account()
  for (const [what, item] of Object.entries(attacks)) {
    const body = `{"messages":[${item},{"channel":"ch_test_sms","to":"+15005550006","type":"text","text":{"body":"a"}}]}`
    const answer = await ask(world, caller, 'POST', '/v1/messages/batch', body, { 'idempotency-key': what })
    assert.equal(answer.status, 207)
    assertBounded(answer, 'the batch')
    const again = await ask(world, caller, 'POST', '/v1/messages/batch', body, { 'idempotency-key': what })
    assertBounded(again, 'the batch that came again')
    const [first, second] = answer.json!['data'] as { status: number; error?: RefusedError }[]
    assert.deepEqual([first!.status, second!.status], [400, 202])
    assert.match(first!.error!.message, /There are (at least )?\d+ more failures than `details` names\.$/)
  }
  const hundred = `{"messages":[${times(100, `{"${'\\u0001'.repeat(1500)}":[1e999,1e999]}`)}]}`
  assertBounded(await ask(world, caller, 'POST', '/v1/messages/batch', hundred), 'a hundred of them')
})

test('truncated lists and texts say so, with the number omitted', () => {
  const detail = (at: number): Detail => ({
    param: `tags[${at}]`,
    code: 'invalid_type',
    message: `\`tags[${at}]\` must be a string.`,
  })
  const of = (count: number) =>
    Problem.invalid([detail(0), ...Array.from({ length: count - 1 }, (_, at) => detail(at + 1))])

  assert.equal(of(100).message, '`tags[0]` must be a string.')
  assert.equal(of(101).message, '`tags[0]` must be a string. There is 1 more failure than `details` names.')
  assert.match(of(1000).message, /There are at least 900 more failures than `details` names\.$/)
  assert.deepEqual([of(101).details!.length, of(101).within(2048).details!.length < 20], [100, true])
  assert.match(of(101).within(2048).message, /There are 8\d|There are 9\d/)
  assert.equal(cut('a\u{1F4EF}b\u{1F4EF}', 3), 'a…')
})

const leaf = fc.constantFrom(
  '1e999',
  '-1e999',
  '"\\ud800"',
  '"\\u0000"',
  '12345678901234567890123',
  'null',
  '0',
  '""',
  '[]',
  '{}',
  `"${'x'.repeat(5000)}"`,
  '"\u{1F4EF}"',
)
const name = fc.constantFrom(
  'k',
  'k'.repeat(90),
  'k'.repeat(30_000),
  '\\u0001'.repeat(300),
  '\\ud800'.repeat(300),
  '\\"'.repeat(300),
  '\u{1F4EF}'.repeat(300),
  '__proto__',
)
const count = fc.constantFrom(1, 3, 120, 3000)

const wrong: fc.Arbitrary<string> = fc.oneof(
  leaf,
  fc.tuple(leaf, count).map(([value, n]) => `[${times(n, value)}]`),
  fc
    .tuple(leaf, name, fc.constantFrom(1, 30))
    .map(
      ([value, key, n]) => `{${Array.from({ length: n }, (_, at) => `"${key}${at}":[${value},${value}]`).join(',')}}`,
    ),
  fc
    .tuple(leaf, name, fc.integer({ min: 1, max: 33 }))
    .map(([value, key, depth]) => `${`{"${key}":`.repeat(depth)}${value}${'}'.repeat(depth)}`),
  fc
    .tuple(leaf, fc.constantFrom('k', 'k'.repeat(90), '\\u0001'.repeat(50)), count)
    .map(([value, key, n]) => `[${times(n, `{"${key}":${value}}`)}]`),
)

/** A body with wrong values among the operation's own fields. */
function wrongBody(route: Route): fc.Arbitrary<string> {
  const fields = Object.entries((requestExample(route) ?? {}) as Record<string, unknown>).map(
    ([field, value]) => [field, JSON.stringify(value)] as const,
  )
  const known = [
    ...new Set([
      ...fields.map(([field]) => field),
      ...Object.keys((route.body as { properties?: object } | undefined)?.properties ?? {}),
    ]),
  ]
  const places = known.length === 0 ? name : fc.oneof(name, fc.constantFrom(...known))
  return fc.array(fc.tuple(places, wrong), { minLength: 1, maxLength: 4 }).map((added) => {
    const kept = fields.filter(([field]) => !added.some(([other]) => other === field))
    const text = (pairs: readonly (readonly [string, string])[]) =>
      `{${pairs.map(([field, value]) => `"${field}":${value}`).join(',')}}`
    const body = text([...kept, ...added])
    return body.length < 1_000_000 ? body : text(added.slice(0, 1)).slice(0, 1_000_000)
  })
}

test('any invalid body of any operation gets a small error', async (t) => {
  const world = await startWorld(t)
  const callers = {
    live: await world.account({ mode: 'live', credit_micros: 1_000_000_000 }),
    test: await world.account(),
  }
  const written = world.app.routes.filter(
    ({ method, body, streamed }) =>
      (method === 'POST' || method === 'PATCH') && body !== undefined && streamed !== true,
  )
  assert.ok(written.length > 15)

  for (const route of written) {
    const path = route.path.replaceAll(/\{\w+\}/g, 'x'.repeat(250))
    await fc.assert(
      fc.asyncProperty(wrongBody(route), async (body) =>
        assertBounded(
          await ask(world, callers[route.mode ?? 'test'], route.method, path, body),
          `${route.method} ${route.path}`,
        ),
      ),
      { numRuns: runsPerOperation, endOnFailure: true },
    )
  }
})

test('queries and paths of thirty kilobytes are refused in less than 64', async (t) => {
  const world = await startWorld(t)
  const caller = await world.account()
  const names = Array.from({ length: 4000 }, (_, at) => `k${at}=`).join('&')

  for (const path of [
    `/v1/contacts?${names}`,
    `/v1/contacts?${'limit=%&'.repeat(3000)}`,
    `/v1/${'%01'.repeat(8000)}`,
    `/v1/messages/${'%22'.repeat(90)}`,
    `/${'x'.repeat(20_000)}`,
  ])
    assertBounded(await ask(world, caller, 'GET', path, undefined), path.slice(0, 60))
})
