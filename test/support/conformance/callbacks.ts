/** Conformance: callbacks are read, forgeries are refused, and adapters never throw. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type {
  ProviderAdapter,
  Callback,
  Connection,
  Provider,
  CallbackResult,
} from '../../../src/providers/provider.ts'
import type { AdapterSamples, CallbackSamples, Start } from './samples.ts'
import { assertReport } from './callback-items.ts'

interface Reading extends CallbackSamples {
  readonly adapter: ProviderAdapter
  readonly connection: Connection
}

const bodyOf = (text: string | Uint8Array): Uint8Array => Buffer.from(text)
const withQuery = (call: Callback, query: Readonly<Record<string, string>>): Callback => {
  const search = new URLSearchParams(query).toString()
  return { ...call, query, url: `${call.url.split('?')[0]}${search === '' ? '' : `?${search}`}` }
}

export async function tryCallbacks(
  suite: TestContext,
  provider: Provider,
  begin: Start,
  { tools, callbacks }: AdapterSamples,
): Promise<void> {
  const { receiveCallback: receive, handshake } = provider.adapter(tools)
  if (receive === undefined) return
  assert.ok(callbacks !== undefined, 'a provider that calls back gives the suite callbacks')
  const reading = async (t: TestContext): Promise<Reading> => {
    const samples = await begin(t)
    return { ...samples.callbacks!, connection: samples.connection, adapter: provider.adapter(samples.tools) }
  }

  await suite.test(`reads each callback, with the same result when it is repeated`, async (t) =>
    readsSamples(await reading(t)),
  )

  await suite.test(`refuses an unsigned callback, and one with the signature of another`, async (t) =>
    refusesForgeries(await reading(t)),
  )

  await suite.test(`never throws, whatever a callback contains`, async (t) => neverThrows(await reading(t)))

  if (handshake === undefined) return
  await suite.test(`refuses a handshake with an unknown token`, async (t) => refusesUnknownTokens(await reading(t)))
}

function readsSamples(reading: Reading): void {
  for (const { name, call, items } of reading.samples) {
    const read = reading.adapter.receiveCallback!(call, reading.connection)
    assert.deepEqual(read?.items, items, name)
    assert.deepEqual(reading.adapter.receiveCallback!(call, reading.connection), read, name)
    for (const report of read!.items) assertReport(report)
    if (read!.response !== undefined) assert.ok(read!.response.content_type !== '', name)
  }
}

function refusesForgeries(reading: Reading): void {
  for (const { name, call } of reading.samples) {
    const read = (forged: Callback): CallbackResult | null =>
      reading.adapter.receiveCallback!(forged, reading.connection)
    const unsigned: (whole: Callback) => Callback = reading.unsigned ?? bare
    assert.equal(read(unsigned(call)), null, `${name}, without its proof`)
    const forged = forgeries(call)
    assert.ok(
      forged.some((one) => read(one) === null),
      `${name}: some header or parameter must be its proof`,
    )
    if (reading.proof === 'content')
      for (const changed of otherContents(call)) assert.equal(read(changed), null, `${name}: ${describe(changed)}`)
    assert.equal(
      reading.adapter.receiveCallback!(call, { ...reading.connection, credentials: {} }),
      null,
      `${name}, on a channel without secrets`,
    )
  }
}

function neverThrows(reading: Reading): void {
  for (const { name, call } of reading.samples) {
    for (const odd of [...oddBodies(call), ...oddQueries(call)]) {
      for (const one of [odd, reading.sign(odd)]) {
        const read = reading.adapter.receiveCallback!(one, reading.connection)
        for (const report of read?.items ?? []) assertReport(report)
        assert.ok(read === null || read.items.length <= 100_000, `${name}: ${describe(one)}`)
        assert.ok((read?.ignored ?? '').length <= 1000, `${name}: ${read?.ignored}`)
      }
    }
  }
}

function refusesUnknownTokens(reading: Reading): void {
  const call: Callback = { ...reading.samples[0]!.call, method: 'GET', headers: {}, body: bodyOf('') }
  const words = ['', 'x', 'wrong', '\u0000', 'x'.repeat(100_000)]
  for (const word of words) {
    const query = {
      'hub.mode': 'subscribe',
      'hub.verify_token': word,
      'hub.challenge': '42',
      token: word,
      challenge: '42',
    }
    assert.equal(reading.adapter.handshake!(withQuery(call, query), reading.connection), null)
    assert.equal(reading.adapter.handshake!(withQuery(call, query), { ...reading.connection, credentials: {} }), null)
  }
  assert.equal(reading.adapter.handshake!(withQuery(call, {}), reading.connection), null)
}

const bare = (call: Callback): Callback => withQuery({ ...call, headers: {} }, {})

const describe = ({ url, body }: Callback): string => `${url} ${Buffer.from(body).subarray(0, 200).toString()}`

const changed = (value: string): string => (value.endsWith('0') ? `${value.slice(0, -1)}1` : `${value.slice(0, -1)}0`)

function forgeries(call: Callback): Callback[] {
  const headers = Object.entries(call.headers).map(([name, value]) => ({
    ...call,
    headers: { ...call.headers, [name]: changed(value) },
  }))
  const queries = Object.entries(call.query).map(([name, value]) =>
    withQuery(call, { ...call.query, [name]: changed(value) }),
  )
  const { body } = call
  return [...headers, ...queries, ...(body.length > 0 ? valuesChanged(call) : [])]
}

function otherContents(call: Callback): Callback[] {
  if (call.body.length === 0)
    return Object.entries(call.query).map(([name, value]) => withQuery(call, { ...call.query, [name]: changed(value) }))
  return valuesChanged(call)
}

const isJson = (call: Callback): boolean => /^\s*[[{]/.test(Buffer.from(call.body).toString())

function valuesChanged(call: Callback): Callback[] {
  const text = Buffer.from(call.body).toString()
  if (isJson(call)) {
    const parsed: unknown = JSON.parse(text)
    return pathsOf(parsed)
      .filter((path) => ['string', 'number', 'boolean'].includes(typeof at(parsed, path)))
      .map((path) => ({
        ...call,
        body: bodyOf(JSON.stringify(replaced(parsed, path, changed(String(at(parsed, path)))))),
      }))
  }
  const form = new URLSearchParams(text)
  return [...form.keys()].map((name) => {
    const other = new URLSearchParams(form)
    other.set(name, changed(form.get(name)!))
    return { ...call, body: bodyOf(other.toString()) }
  })
}

const wrongValues: readonly unknown[] = [
  null,
  '',
  'x',
  [],
  {},
  [null],
  [[]],
  -1,
  1e308,
  7.5,
  true,
  '9'.repeat(400),
  '\u0000',
  { length: 3 },
]

function oddBodies(call: Callback): Callback[] {
  const whole = Buffer.from(call.body)
  const texts: (string | Uint8Array)[] = [
    '',
    'null',
    '[]',
    '{}',
    '"x"',
    '7',
    '[null]',
    '{"__proto__":{"x":1}}',
    '['.repeat(100_000),
    'x'.repeat(3 * 1024 * 1024),
    `{"a":"${'x'.repeat(1_000_000)}"}`,
    Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28]),
    '%%%=%zz&=&&=',
    ...[1, Math.floor(whole.length / 3), Math.floor(whole.length / 2), whole.length - 1].map((end) =>
      whole.subarray(0, Math.max(end, 0)),
    ),
  ]
  return [...texts.map((text) => ({ ...call, body: bodyOf(text) })), ...(isJson(call) ? oddJson(call) : oddForms(call))]
}

function oddJson(call: Callback): Callback[] {
  const parsed: unknown = JSON.parse(Buffer.from(call.body).toString())
  return pathsOf(parsed).flatMap((path) => [
    { ...call, body: bodyOf(JSON.stringify(replaced(parsed, path, undefined))) },
    ...wrongValues.map((value) => ({ ...call, body: bodyOf(JSON.stringify(replaced(parsed, path, value))) })),
  ])
}

const wrongTexts = ['', 'x', '-1', '1e999', '\u0000', '{}', 'x'.repeat(10_000), '9'.repeat(400), 'NaN', 'undefined']

function oddForms(call: Callback): Callback[] {
  if (call.body.length === 0) return []
  const form = Object.fromEntries(new URLSearchParams(Buffer.from(call.body).toString()))
  return Object.keys(form).flatMap((name) => [
    { ...call, body: bodyOf(new URLSearchParams(Object.entries(form).filter(([other]) => other !== name)).toString()) },
    ...wrongTexts.map((text) => ({ ...call, body: bodyOf(new URLSearchParams({ ...form, [name]: text }).toString()) })),
  ])
}

const oddQueries = (call: Callback): Callback[] =>
  Object.keys(call.query).flatMap((name) => [
    withQuery(call, Object.fromEntries(Object.entries(call.query).filter(([other]) => other !== name))),
    ...wrongTexts.map((text) => withQuery(call, { ...call.query, [name]: text })),
  ])

type Path = readonly (string | number)[]

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return path.length === 0 ? [] : [path]
  const inner = Object.entries(value).flatMap(([key, item]) =>
    pathsOf(item, [...path, Array.isArray(value) ? Number(key) : key]),
  )
  return path.length === 0 ? inner : [path, ...inner]
}

const at = (value: unknown, path: Path): unknown =>
  path.reduce((inner, key) => (inner as Record<string | number, unknown>)[key], value)

function replaced(value: unknown, path: Path, by: unknown): unknown {
  const copy = structuredClone(value)
  const holder = at(copy, path.slice(0, -1)) as Record<string | number, unknown>
  if (by === undefined) delete holder[path.at(-1)!]
  else holder[path.at(-1)!] = by
  return copy
}
