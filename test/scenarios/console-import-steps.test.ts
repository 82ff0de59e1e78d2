/** Imports in steps through the console's API (behaviour: console 7.5). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { consoleClient, signedInOwner, type ConsoleClient } from '../support/console-api.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { holdOpen } from '../support/open-transactions.ts'
import { until } from '../support/waiting.ts'
import { startWorld } from '../support/world.ts'

const hour = 3600_000

async function start(t: TestContext, given: Parameters<typeof startWorld>[1] = {}) {
  const world = await startWorld(t, given)
  const account = await world.account()
  const client = await signedInOwner(world)
  const left = async () => {
    const [row] = await world.pool`
      select (select count(*)::int from contact_imports) as imports, (select count(*)::int from contact_import_chunks) as pieces, (select count(*)::int from contact_import_jobs) as jobs`
    return row
  }
  return { world, account, client, left }
}

const upload = (client: ConsoleClient, csv: string | Uint8Array, query = '', headers: Record<string, string> = {}) =>
  client.send('POST', `/imports${query}`, csv, { 'content-type': 'text/csv', ...headers })

const step = async (client: ConsoleClient, method: string, path: string, body?: object) => {
  const answer = await client.send(method, `/imports/${path}`, body)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}

const countsOf = ({ total, created, updated, rejected }: Record<string, unknown>) => [total, created, updated, rejected]

test('an import is uploaded, described, checked and started, with the result that the check predicted', async (t) => {
  const { world, account, client } = await start(t)
  await account.api.post('/v1/contacts', { phone: '+14155550100', first_name: 'Known' })
  await account.api.post('/v1/contacts', { email: 'mail@example.com' })
  await account.api.post('/v1/contacts', { phone: '+14155550107', identifiers: { telegram: '77' } })
  const rows = [
    '+14155550100,,38,', // known
    '(415) 555-0101,new@example.com,39,', // new; the country is chosen later
    '+14155550101,,40,', // repeated
    ',new@example.com,41,', // matches the row before by e-mail
    ',MAIL@example.com,42,', // known by e-mail
    '+14155550102,,43,77', // another contact's identifier
    '12,,44,', // invalid number
    ',,45,', // nobody
    ...Array.from({ length: 2100 }, (_, n) => `+1415555${2000 + n},p${n}@example.com,,`),
    // in another chunk than the rows that they match
    '+14155552000,,46,',
    ',p8@example.com,47,',
    '+14155550199,p7@example.com,48,',
    ',p7@example.com,49,', // matches two contacts by now
  ]
  const csv = `Mobile;E-Mail;Shoe size;identifiers.telegram\n${rows.join('\n').replaceAll(',', ';')}\n`

  const draft = await upload(client, `\uFEFF${csv}`, '?file_name=people.csv')
  const { id } = draft.body
  const hidden = [await account.api.get(`/v1/contact_imports/${id}`), await account.api.get('/v1/contact_imports')]
  const early = await client.send('POST', `/imports/${id}/start`)
  const unknown = await client.send('POST', `/imports/${id}/check`)
  const odd = await client.send('PATCH', `/imports/${id}`, { columns: { 'Shoe size': 'shoes' } })
  await step(client, 'PATCH', id, { columns: { 'Shoe size': 'attributes.shoe_size' }, default_country: 'us' })
  const checked = await step(client, 'POST', `${id}/check`)
  const nobodyNew = await account.api.get('/v1/contacts?email=new%40example.com')
  const undeclared = await client.send('POST', `/imports/${id}/start`)
  const declared = await step(client, 'PATCH', id, { consent_declared: true })
  const started = await step(client, 'POST', `${id}/start`)
  await world.settle()
  const done = await account.api.get(`/v1/contact_imports/${id}`)

  assert.deepEqual(
    [draft.status, draft.body.status, draft.body.total, draft.body.file_name],
    [201, 'draft', rows.length, 'people.csv'],
  )
  assert.deepEqual(draft.body.columns[2], { name: 'Shoe size', field: null, understood: false })
  assert.deepEqual([hidden[0]!.status, hidden[1]!.body.data], [404, []])
  assert.deepEqual([early.status, early.body.error.code], [409, 'import_state_invalid'])
  assert.deepEqual(
    [unknown.status, unknown.body.error.code, unknown.body.error.param],
    [400, 'parameter_invalid', 'header[2]'],
  )
  assert.deepEqual([odd.status, odd.body.error.param], [400, 'columns["Shoe size"]'])
  assert.deepEqual([checked.status, checked.processed, ...countsOf(checked)], ['checked', 0, rows.length, 2102, 6, 4])
  assert.deepEqual(nobodyNew.body.data, [])
  assert.deepEqual(
    [undeclared.status, undeclared.body.error.code, undeclared.body.error.param],
    [400, 'consent_required', 'consent_declared'],
  )
  assert.equal(declared.status, 'checked')
  assert.deepEqual([started.status, started.created], ['pending', 0])
  assert.deepEqual([done.body.status, ...countsOf(done.body)], ['completed', ...countsOf(checked)])
  const [known] = (await account.api.get('/v1/contacts?phone=%2B14155550100')).body.data
  assert.deepEqual(known.attributes, { shoe_size: 38 })
  assert.equal((await step(client, 'GET', id)).status, 'completed')
  await world.invariants()

  const actions = (await client.send('GET', '/audit_entries')).body.data.map(
    (entry: { action: string }) => entry.action,
  )
  assert.deepEqual(
    actions.filter((action: string) => action.startsWith('imports.')).toReversed(),
    ['create', 'update', 'check', 'update', 'start'].map((name) => `imports.${name}`),
  )
})

test('of ten concurrent starts one succeeds, and every contact is created once', async (t) => {
  const { world, account, client } = await start(t)
  const { id } = (await upload(client, 'phone\n+14155550101\n+14155550102\n')).body
  await step(client, 'PATCH', id, { consent_declared: true })
  const checks = await Promise.all(Array.from({ length: 3 }, () => client.send('POST', `/imports/${id}/check`)))

  const starts = await Promise.all(Array.from({ length: 10 }, () => client.send('POST', `/imports/${id}/start`)))
  await world.settle()
  const done = await account.api.get(`/v1/contact_imports/${id}`)

  assert.deepEqual(
    checks.map(({ status, body }) => [status, body.created]),
    Array.from({ length: 3 }, () => [200, 2]),
  )
  assert.equal(starts.filter(({ status }) => status === 200).length, 1)
  for (const { status, body } of starts)
    if (status !== 200) assert.deepEqual([status, body.error.code], [409, 'import_state_invalid'])
  assert.deepEqual([done.body.status, done.body.created, done.body.updated], ['completed', 2, 0])
  for (const [method, path] of [
    ['PATCH', id],
    ['POST', `${id}/check`],
    ['POST', `${id}/cancel`],
  ] as const) {
    const late = await client.send(
      method,
      `/imports/${path}`,
      method === 'PATCH' ? { consent_declared: false } : undefined,
    )
    assert.deepEqual([late.status, late.body.error.code], [409, 'import_state_invalid'], path)
  }
  await world.invariants()
})

test('a changed description is checked again, a check near the contact limit counts rejections, and a cancelled draft leaves no rows', async (t) => {
  const { world, client, left } = await start(t, { settings: { contact_limit: 1 } })
  const { id } = (
    await upload(
      client,
      'phone,Notes,email\n+14155550101,x,a@example.com\n+14155550102,y,a@example.com\n+14155550101,z,\n',
    )
  ).body
  await step(client, 'PATCH', id, { columns: { Notes: null }, consent_declared: true })
  const first = await step(client, 'POST', `${id}/check`)
  const changed = await step(client, 'PATCH', id, { columns: { Notes: 'attributes.note' } })
  const early = await client.send('POST', `/imports/${id}/start`)
  const again = await step(client, 'POST', `${id}/check`)
  const cancelled = await step(client, 'POST', `${id}/cancel`)
  const twice = await client.send('POST', `/imports/${id}/cancel`)

  assert.deepEqual(countsOf(first), [3, 1, 1, 1])
  assert.deepEqual([changed.status, changed.consent_declared, ...countsOf(changed)], ['draft', true, 3, 0, 0, 0])
  assert.equal(early.status, 409)
  assert.deepEqual(countsOf(again), countsOf(first))
  assert.equal(cancelled.status, 'cancelled')
  assert.deepEqual([twice.status, twice.body.error.code], [409, 'import_state_invalid'])
  assert.deepEqual(await left(), { imports: 1, pieces: 0, jobs: 0 })
  await world.invariants()
})

test('a file that is not UTF-8 is refused with advice, and nothing is stored', async (t) => {
  const { client, left } = await start(t, { settings: { import_bytes_max: 1000 } })
  const files: [string, string | Uint8Array][] = [
    ['empty', ''],
    ['a BOM alone', '\uFEFF'],
    ['blank', '\n\n'],
    ['latin 1', Buffer.from('phone,first_name\n+14155550101,J\xf6rg\n', 'latin1')],
    ['UTF-16', Buffer.from('\uFEFFphone\n+14155550101\n', 'utf16le')],
    ['a spreadsheet', Buffer.from('PK\x03\x04\x14\x00\x06\x00', 'latin1')],
    ['binary', Buffer.from('phone\n\0\0\n', 'latin1')],
  ]
  for (const [name, content] of files) {
    const refused = await upload(client, content)
    assert.deepEqual(
      [refused.status, refused.body.error?.code, refused.body.error?.param],
      [400, 'import_file_invalid', 'file'],
      name,
    )
    assert.match(refused.body.error.message, /CSV UTF-8/, name)
  }
  const large = await upload(client, `phone\n${'+14155550101\n'.repeat(100)}`)
  assert.deepEqual([large.status, large.body.error.code], [413, 'payload_too_large'])
  assert.deepEqual(await left(), { imports: 0, pieces: 0, jobs: 0 })
})

test('an upload repeated with its Idempotency-Key makes one draft, which expires if not started', async (t) => {
  const { world, account, client, left } = await start(t)
  const key = { 'idempotency-key': 'one-upload' }
  const first = await upload(client, 'phone\n+14155550101\n', '', key)
  const second = await upload(client, 'phone\n+14155550101\n', '', key)
  const other = await upload(client, 'phone\n+14155550102\n', '', key)
  const stranger = consoleClient(world)
  Object.assign(stranger, { cookie: client.cookie, account: client.account, mode: 'live' })

  assert.deepEqual([first.status, second.status, second.body.id], [201, 201, first.body.id])
  assert.equal(other.body.error.code, 'idempotency_key_reused')
  assert.equal((await stranger.send('GET', `/imports/${first.body.id}`)).status, 404)
  const later = async (hours: number) => {
    await world.clock.advance(hours * hour)
    await world.periodicJobs()
  }
  await later(11)
  await step(client, 'PATCH', first.body.id, { consent_declared: true })
  await later(11)
  await client.send('GET', '/session')
  await later(11)
  assert.equal((await left())!['imports'], 1)
  await later(3)
  assert.deepEqual(await left(), { imports: 0, pieces: 0, jobs: 0 })
  assert.equal((await account.api.get('/v1/contact_imports')).body.data.length, 0)
})

const csvOf = (rows: number): string =>
  `phone\n${Array.from({ length: rows }, (_, n) => `+1415555${1000 + n}`).join('\n')}\n`

test('an account has a limited number of drafts: further uploads are refused until one is started or cancelled', async (t) => {
  const { client } = await start(t, { settings: { import_draft_limit: 2 } })
  const [first] = [await upload(client, csvOf(1)), await upload(client, csvOf(2))]

  const refused = await upload(client, csvOf(3))
  await step(client, 'POST', `${first.body.id}/cancel`)
  const accepted = await upload(client, csvOf(3))

  assert.deepEqual([refused.status, refused.body.error?.code, accepted.status], [409, 'import_state_invalid', 201])
  assert.match(refused.body.error.message, /Start or cancel one of them/)
})

test('the import files of an account that are not applied yet have a limited size', async (t) => {
  const { world, account, client } = await start(t, {
    settings: { import_stored_bytes_max: 10_000, import_bytes_max: 10_000 },
  })
  const { body: draft } = await upload(client, csvOf(400))
  const send = () =>
    account.api.send('POST', '/v1/contact_imports?consent_declared=true', { 'content-type': 'text/csv' }, csvOf(500))

  const refused = await send()
  const other = await (
    await world.account()
  ).api.send('POST', '/v1/contact_imports?consent_declared=true', { 'content-type': 'text/csv' }, csvOf(500))
  await step(client, 'POST', `${draft.id}/cancel`)
  const accepted = await send()

  assert.deepEqual(
    [refused.status, refused.body.error.code, other.status, accepted.status],
    [413, 'payload_too_large', 202, 202],
  )
  assert.match(refused.body.error.message, /Wait until an import is completed/)
})

test('an account may check a limited number of imports at once', async (t) => {
  const { world, client } = await start(t, { settings: { import_check_limit: 1 } })
  const drafts = [await upload(client, csvOf(1)), await upload(client, csvOf(2))]
  const check = ({ body }: (typeof drafts)[number]) => client.send('POST', `/imports/${body.id}/check`)

  const answers = await holdOpen(world.pool, async (tx) => {
    await tx`lock table contact_import_chunks in access exclusive mode`
    const first = check(drafts[0]!)
    await until(
      'the first check to wait',
      () => lockWaits(world.pool),
      (waiting) => waiting > 0,
    )
    return { first, second: await check(drafts[1]!) }
  })

  assert.deepEqual([answers.second.status, answers.second.body.error.code], [429, 'rate_limit_exceeded'])
  assert.equal((await answers.first).status, 200)
  assert.equal((await check(drafts[1]!)).status, 200)
})
