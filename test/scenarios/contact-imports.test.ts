import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { importsWorker } from '../../src/modules/contacts/imports/worker.ts'
import { testPool } from '../support/pool.ts'
import { until } from '../support/waiting.ts'
import { startWorld, type TestAccount, type World } from '../support/world.ts'

const day = 86_400_000

async function start(t: TestContext, settings: Parameters<typeof startWorld>[1] = {}) {
  const world = await startWorld(t, settings)
  const account = await world.account()
  return { world, account, api: account.api }
}

const send = (
  { api }: TestAccount,
  csv: string | Uint8Array,
  query = 'consent_declared=true',
  headers: Record<string, string> = {},
) =>
  api.send(
    'POST',
    `/v1/contact_imports${query === '' ? '' : `?${query}`}`,
    { 'content-type': 'text/csv', ...headers },
    csv,
  )

async function imported(world: World, account: TestAccount, csv: string | Uint8Array, query?: string) {
  const started = await send(account, csv, query)
  assert.equal(started.status, 202, JSON.stringify(started.body))
  await world.settle()
  return (await account.api.get(`/v1/contact_imports/${started.body.id}`)).body
}

async function everyContact({ api }: TestAccount) {
  const { body } = await api.get('/v1/contacts?limit=100')
  return body.data
}

test('a row with only an e-mail address updates the contact that another row created', async (t) => {
  const { world, account, api } = await start(t)
  const others = Array.from({ length: 2000 }, (_, i) => `+1500555${2000 + i},p${i}@example.com,P,`)
  const rows = [
    '+15005551011,ada@example.com,Ada,a',
    ',ADA@example.com,Ada Maria,b',
    '+15005551012,many@example.com,M,',
    '+15005551013,many@example.com,M,',
    ',many@example.com,N,',
  ]

  const done = await imported(
    world,
    account,
    ['phone,email,first_name,tags', ...rows, ...others, ',p1999@example.com,Last,\n'].join('\n'),
  )
  const found = async (email: string) =>
    (await api.get(`/v1/contacts?email=${email}`)).body.data.map((each: { first_name: string; tags: string[] }) => [
      each.first_name,
      ...each.tags,
    ])

  assert.deepEqual([done.created, done.updated, done.rejected], [2003, 2, 1])
  assert.deepEqual(await found('ada@example.com'), [['Ada Maria', 'a', 'b']])
  assert.deepEqual(await found('p1999@example.com'), [['Last']])
  assert.deepEqual(await found('many@example.com'), [['M'], ['M']])
  await world.invariants()
})

test('a file becomes contacts, and its progress and rejected rows can be read', async (t) => {
  const { world, account, api } = await start(t)
  const csv =
    '\uFEFFPhone Number;First Name;tags;attributes.age;consent.sms\r\n0151 2345678;Ada;"vip;news";36;opted_in\r\n"+49 (151) 2345-679";"Grace\nHopper";;41;\r\n12;X;;;\r\n\r\n'

  const started = await send(account, csv, 'consent_declared=true&default_country=de&file_name=people.csv')
  await world.settle()
  const done = await api.get(`/v1/contact_imports/${started.body.id}`)
  const errors = await api.get(`/v1/contact_imports/${started.body.id}/errors`)
  const [grace, ada] = await everyContact(account)

  assert.equal(started.status, 202)
  assert.deepEqual(
    [
      started.body.object,
      started.body.status,
      started.body.total,
      started.body.file_name,
      started.body.default_country,
    ],
    ['contact_import', 'pending', 3, 'people.csv', 'DE'],
  )
  assert.deepEqual(
    [done.body.status, done.body.total, done.body.processed, done.body.created, done.body.updated, done.body.rejected],
    ['completed', 3, 3, 2, 0, 1],
  )
  assert.deepEqual(
    [ada.phone, ada.first_name, ada.tags, ada.attributes, ada.consent.sms.status, ada.consent.sms.source],
    ['+491512345678', 'Ada', ['news', 'vip'], { age: 36 }, 'opted_in', 'import'],
  )
  assert.deepEqual([grace.phone, grace.first_name, grace.consent], ['+491512345679', 'Grace\nHopper', {}])
  assert.match(errors.headers['content-type']!, /^text\/csv/)
  assert.match(
    errors.body,
    /^Phone Number;First Name;tags;attributes.age;consent.sms;import_row;import_result;import_reason\r\n12;X;;;;4;rejected;"?phone must be/,
  )
  await world.invariants()
})

test('a file may name its delimiter in the line before its header, as Excel writes it', async (t) => {
  const { world, account, api } = await start(t)

  const done = await imported(
    world,
    account,
    '\uFEFFsep=|\r\nphone|first_name|last_name\r\n+15005551011|Ada, Countess|Lovelace\r\n+1500|X|Y\r\n',
  )

  const errors = await api.get(`/v1/contact_imports/${done.id}/errors`)
  assert.deepEqual([done.status, done.created, done.rejected], ['completed', 1, 1])
  assert.equal((await everyContact(account))[0].full_name, 'Ada, Countess Lovelace')
  assert.match(errors.body, /\r\n'\+1500\|X\|Y\|4\|rejected\|/)
})

test('importing a file again updates the same contacts, and rows of one contact apply in order', async (t) => {
  const { world, account } = await start(t)
  const csv =
    'phone,email,first_name,tags\n+15005551011,,Ada,a\n,only@example.com,Bob,x\n+1 500 555 1011,,Ada Maria,b\n,ONLY@example.com,Robert,y\n'

  const first = await imported(world, account, csv)
  const second = await imported(world, account, csv)
  const contacts = await everyContact(account)

  assert.deepEqual([first.created, first.updated], [2, 2])
  assert.deepEqual([second.created, second.updated], [0, 4])
  assert.deepEqual(
    contacts.map((each: { first_name: string; tags: string[] }) => [each.first_name, each.tags]).sort(),
    [
      ['Ada Maria', ['a', 'b']],
      ['Robert', ['x', 'y']],
    ],
  )
  await world.invariants()
})

test('no import starts without declared consent', async (t) => {
  const { world, account } = await start(t)

  for (const query of ['', 'consent_declared=false']) {
    const refused = await send(account, 'phone\n+15005551011\n', query)
    assert.deepEqual(
      [refused.status, refused.body.error.code, refused.body.error.param],
      [400, 'consent_required', 'consent_declared'],
    )
  }
  const odd = await send(account, 'phone\n+15005551011\n', 'consent_declared=yes')

  assert.deepEqual([odd.status, odd.body.error.code], [400, 'parameter_invalid'])
  assert.deepEqual(await leftovers(world), { imports: 0, pieces: 0, jobs: 0 })
})

async function leftovers({ pool }: World) {
  const [row] = await pool`
    select (select count(*)::int from contact_imports) as imports, (select count(*)::int from contact_import_chunks) as pieces, (select count(*)::int from contact_import_jobs) as jobs`
  return row
}

const untilImports = (world: World, count: number) =>
  until(
    `${count} imports to be stored`,
    () => leftovers(world),
    (row) => row!['imports'] === count,
  )

test('a file that is not CSV is refused with the reason and leaves nothing', async (t) => {
  const { world, account, api } = await start(t, { settings: { import_bytes_max: 100_000 } })
  const rows = (count: number) =>
    `phone,first_name\n${Array.from({ length: count }, (_, n) => `+1500555${String(1000 + n)},A\n`).join('')}`
  const cases: [string, string | Uint8Array, number, string, string][] = [
    ['empty', '', 400, 'parameter_invalid', 'file'],
    ['blank', '\n\n', 400, 'parameter_invalid', 'file'],
    ['latin 1', Buffer.from('phone,first_name\n+15005551011,J\xf6rg\n', 'latin1'), 400, 'parameter_invalid', 'file'],
    ['cut UTF-8', Buffer.from('phone,first_name\n+15005551011,J\xc3', 'latin1'), 400, 'parameter_invalid', 'file'],
    ['UTF-16', Buffer.from('\uFEFFphone\n+15005551011\n', 'utf16le'), 400, 'parameter_invalid', 'file'],
    ['spreadsheet', Buffer.from('PK\x03\x04\x14\x00\x06\x00', 'latin1'), 400, 'parameter_invalid', 'file'],
    ['NUL', 'phone\n+1500\0\n', 400, 'parameter_invalid', 'file'],
    ['open quote', `${rows(2000)}"+1500,B\n`, 400, 'parameter_invalid', 'file'],
    ['open quote in the header', '"phone,first_name\n+15005551011,Ada\n', 400, 'parameter_invalid', 'file'],
    ['quotes over lines in the header', 'phone"\n"first_name\n+15005551011,Ada\n', 400, 'parameter_invalid', 'file'],
    ['carriage returns alone', 'phone,first_name\r+15005551011,Ada\r', 400, 'parameter_invalid', 'file'],
    ['a delimiter named and nothing more', 'sep=;\r\n', 400, 'parameter_invalid', 'file'],
    ['unknown column', 'phone,shoe size\n+15005551011,9\n', 400, 'parameter_invalid', 'header[1]'],
    ['no address', 'first_name\nAda\n', 400, 'parameter_missing', 'header'],
    ['JSON', '{"phone":"+15005551011"}', 400, 'parameter_invalid', 'file'],
    ['too large', rows(9000), 413, 'payload_too_large', ''],
  ]

  for (const [name, body, status, code, param] of cases) {
    const refused = await send(account, body)
    assert.deepEqual(
      [name, refused.status, refused.body.error?.code, refused.body.error?.param ?? ''],
      [name, status, code, param],
    )
  }
  assert.match((await send(account, rows(9000))).body.error.message, /larger than 100000 bytes/)
  const untyped = await api.send(
    'POST',
    '/v1/contact_imports?consent_declared=true',
    { 'content-type': 'application/json' },
    '{}',
  )
  const country = await send(account, rows(1), 'consent_declared=true&default_country=XX')
  const mapping = await send(account, rows(1), `consent_declared=true&columns=${encodeURIComponent('[1]')}`)

  assert.deepEqual([untyped.status, untyped.body.error.code], [400, 'invalid_json'])
  assert.deepEqual([country.body.error.code, country.body.error.param], ['parameter_invalid', 'default_country'])
  assert.deepEqual([mapping.body.error.code, mapping.body.error.param], ['parameter_invalid', 'columns'])
  assert.deepEqual(await leftovers(world), { imports: 0, pieces: 0, jobs: 0 })
  assert.deepEqual(await everyContact(account), [])
})

test('a form carries the file and its parameters', async (t) => {
  const { world, account, api } = await start(t)
  const form = (parts: [string, string, string?][]) =>
    `${parts.map(([name, value, file]) => `--b\r\ncontent-disposition: form-data; name="${name}"${file === undefined ? '' : `; filename="${file}"`}\r\n\r\n${value}\r\n`).join('')}--b--\r\n`
  const post = (body: string) =>
    api.send('POST', '/v1/contact_imports', { 'content-type': 'multipart/form-data; boundary=b' }, body)
  const csv = 'phone,Shoe size,Notes\n0151 2345678,42,x\n'

  const taken = await post(
    form([
      ['columns', '{"Shoe size":"attributes.shoe_size","Notes":null}'],
      ['default_country', 'DE'],
      ['file', csv, 'people.csv'],
      ['consent_declared', 'true'],
    ]),
  )
  const undeclared = await post(form([['file', 'phone\n+15005551011\n', 'a.csv']]))
  const fileless = await post(form([['consent_declared', 'true']]))
  const unknown = await post(
    form([
      ['consent_declared', 'true'],
      ['country', 'DE'],
      ['file', csv, 'a.csv'],
    ]),
  )
  const late = await post(
    form([
      ['file', 'phone\n+15005551011\n', 'a.csv'],
      ['default_country', 'DE'],
      ['consent_declared', 'true'],
    ]),
  )
  const broken = await post('--b\r\nnonsense')
  const plain = await post(
    form([
      ['consent_declared', 'true'],
      ['file', csv],
    ]),
  )
  const nameless = await post('--b\r\ncontent-disposition: form-data\r\n\r\nx\r\n--b--\r\n')
  await world.settle()

  assert.equal(taken.status, 202, JSON.stringify(taken.body))
  assert.deepEqual(
    [taken.body.file_name, taken.body.columns[1].field, taken.body.columns[2].field],
    ['people.csv', 'attributes.shoe_size', null],
  )
  assert.deepEqual(
    (await everyContact(account)).map((each: { phone: string; attributes: object }) => [each.phone, each.attributes]),
    [['+491512345678', { shoe_size: 42 }]],
  )
  assert.deepEqual([undeclared.status, undeclared.body.error.code], [400, 'consent_required'])
  assert.deepEqual([fileless.status, fileless.body.error.param], [400, 'file'])
  assert.deepEqual([unknown.status, unknown.body.error.param], [400, 'country'])
  assert.deepEqual([late.status, late.body.error.param], [400, 'default_country'])
  assert.deepEqual([broken.status, broken.body.error.code], [400, 'invalid_json'])
  assert.deepEqual(
    [plain.status, plain.body.error.param, plain.body.error.details[0].code],
    [400, 'file', 'invalid_type'],
  )
  assert.deepEqual([nameless.status, nameless.body.error.details[0].code], [400, 'unknown_field'])
})

test('an import never undoes an opt-out, of a contact or of an unknown number', async (t) => {
  const { world, account, api } = await start(t)
  await api.post('/v1/contacts', { phone: '+15005551011', consent: { sms: 'opted_in' } })
  for (const from of ['+15005551011', '+15005551012'])
    await api.post('/v1/test/inbound_messages', { channel: 'ch_test_sms', from, type: 'text', text: { body: 'STOP' } })
  await world.settle()
  const stranger = (await api.get('/v1/contacts?phone=%2B15005551012')).body.data[0]
  if (stranger !== undefined) await api.delete(`/v1/contacts/${stranger.id}`)

  const done = await imported(
    world,
    account,
    'phone,first_name,consent.sms\n+15005551011,Ada,opted_in\n+15005551012,Bob,opted_in\n+15005551013,Eve,opted_in\n',
  )
  const errors = await api.get(`/v1/contact_imports/${done.id}/errors`)
  const contacts = (await everyContact(account)).map(
    (each: { phone: string; first_name: string; consent: { sms: { status: string } } }) => [
      each.phone,
      each.first_name,
      each.consent.sms.status,
    ],
  )

  assert.deepEqual([done.created, done.updated, done.rejected, done.warnings], [2, 1, 0, 2])
  assert.deepEqual(contacts.sort(), [
    ['+15005551011', 'Ada', 'opted_out'],
    ['+15005551012', 'Bob', 'opted_out'],
    ['+15005551013', 'Eve', 'opted_in'],
  ])
  assert.equal(errors.body.match(/applied in part,"?Applied without consent\.sms/g).length, 2)
  const refused = await api.post('/v1/messages', {
    channel: 'ch_test_sms',
    to: '+15005551012',
    type: 'text',
    text: { body: 'Hi' },
  })
  assert.equal(refused.body.error.code, 'recipient_blocked')
  await world.invariants()
})

test('at the contact limit rows of new contacts are rejected, and known contacts still updated', async (t) => {
  const { world, account, api } = await start(t, { settings: { contact_limit: 2 } })
  await api.post('/v1/contacts', { phone: '+15005551011' })

  const done = await imported(world, account, 'phone,first_name\n+15005551012,B\n+15005551013,C\n+15005551011,A\n')
  const errors = await api.get(`/v1/contact_imports/${done.id}/errors`)

  assert.deepEqual([done.status, done.created, done.updated, done.rejected], ['completed', 1, 1, 1])
  assert.match(errors.body, /\r\n\+15005551013,C,3,rejected,"The account has reached its limit of contacts/)
  await world.invariants()
})

test('progress shows while an import runs, and after a crash another process continues without counting a row twice', async (t) => {
  const { world, account, api } = await start(t)
  const rows = 25_500
  const started = await send(
    account,
    `phone,first_name\n${Array.from({ length: rows }, (_, n) => `+1500${String(1_000_000 + n)},N${n}\n`).join('')}`,
  )
  const read = async () => (await api.get(`/v1/contact_imports/${started.body.id}`)).body

  await world.tick('imports')
  const half = await read()
  // a process claimed the rest and died
  await world.pool`update contact_import_jobs set process_id = 'process_dead', lease_until = '2100-01-01'`
  await world.pool`insert into processes (id, roles, started_at, heartbeat_at) values ('process_dead', '{}', '2026-01-01', '2100-01-01')`
  const held = await world.tick('imports')
  await world.pool`update processes set heartbeat_at = '2026-01-01' where id = 'process_dead'`
  await world.settle()
  const done = await read()

  assert.deepEqual([half.status, half.processed], ['running', 20_000])
  assert.equal(held, 0)
  assert.deepEqual([done.status, done.total, done.processed, done.created], ['completed', rows, rows, rows])
  assert.deepEqual(await leftovers(world), { imports: 1, pieces: 0, jobs: 0 })
  await world.invariants()
})

test('an import whose connections are cut repeatedly counts every row once', async (t) => {
  const { world, account, api } = await start(t)
  const rows = 9000
  const started = await send(
    account,
    `phone,tags,consent.sms\n${Array.from({ length: rows }, (_, n) => `+1500${String(1_000_000 + (n % 8000))},t${n % 7},${n % 50 === 0 ? 'opted_out' : 'opted_in'}\n`).join('')}`,
  )
  const killer = testPool(world.database_url, { max: 1 })
  t.after(() => killer.end())
  const pass = () => world.tick('imports').catch(() => 0)

  for (let cuts = 0; cuts < 12; cuts++) {
    await until('every connection to be open before the cut', async () =>
      (await Promise.allSettled(Array.from({ length: 10 }, () => world.pool`select 1`))).every(
        (query) => query.status === 'fulfilled',
      ),
    )
    const cutPass = pass()
    for (let waits = world.random.below(40); waits > 0; waits--) await killer`select 1`
    await killer`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
    await cutPass
  }
  // a run finds nothing while a cut session still has the lock
  const done = await until(
    'the import to end',
    async () => {
      await pass()
      return (await api.get(`/v1/contact_imports/${started.body.id}`)).body
    },
    ({ status }) => status === 'completed' || status === 'failed',
  )

  assert.deepEqual(
    [done.status, done.processed, done.created, done.updated, done.rejected],
    ['completed', rows, 8000, 1000, 0],
  )
  assert.equal((await world.pool`select count(*)::int as n from contacts`)[0]!['n'], 8000)
  await world.invariants()
})

test('an import pauses between two chunks when its process stops, and another process continues it', async (t) => {
  const { world, account, api } = await start(t)
  const { body } = await send(account, 'phone\n+15005551011\n')

  const applied = await importsWorker(world.platform).tick(AbortSignal.abort())
  const stopped = await api.get(`/v1/contact_imports/${body.id}`)
  await world.settle()

  assert.equal(applied, 1)
  assert.deepEqual([stopped.body.status, stopped.body.processed], ['pending', 0])
  assert.equal((await api.get(`/v1/contact_imports/${body.id}`)).body.status, 'completed')
})

test('two processes on one import apply every row once', async (t) => {
  const { world, account, api } = await start(t)
  const started = await send(
    account,
    `phone,tags\n${Array.from({ length: 6000 }, (_, n) => `+1500${String(1_000_000 + (n % 4000))},t${n % 7}\n`).join('')}`,
  )

  await Promise.all([world.tick('imports'), world.tick('imports'), world.tick('imports')])
  await world.settle()
  const done = (await api.get(`/v1/contact_imports/${started.body.id}`)).body

  assert.deepEqual([done.status, done.processed, done.created, done.updated], ['completed', 6000, 4000, 2000])
  await world.invariants()
})

test('an import that keeps failing ends as failed and blocks no other', async (t) => {
  const { world, account, api } = await start(t)
  const broken = await send(account, 'phone\n+15005551011\n')
  await world.pool`update contact_imports set columns = 'null'`
  const other = await send(account, 'phone\n+15005551012\n')

  let failures = 0
  for (let pass = 0; pass < 30; pass++) await world.tick('imports').catch(() => (failures += 1))
  const [failed, fine] = [
    await api.get(`/v1/contact_imports/${broken.body.id}/errors`),
    await api.get(`/v1/contact_imports/${other.body.id}`),
  ]
  const [row] = await world.pool`select status, error from contact_imports where id = ${broken.body.id}`

  assert.equal(failures, 20)
  assert.deepEqual([row!['status'], row!['error'].code, failed.status], ['failed', 'internal_error', 200])
  assert.deepEqual([fine.body.status, fine.body.created], ['completed', 1])
  assert.deepEqual(await leftovers(world), { imports: 2, pieces: 0, jobs: 0 })
})

test('an aborted upload leaves nothing, and an upload of a dead process is cleaned up', async (t) => {
  const { world, account } = await start(t)
  const { connect } = await import('node:net')
  const socket = connect(Number(new URL(world.base_url).port), '127.0.0.1')
  socket.write(
    `POST /v1/contact_imports?consent_declared=true HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${account.key}\r\ncontent-type: text/csv\r\ncontent-length: 100000\r\n\r\nphone\n+15005551011\n`,
  )
  await untilImports(world, 1)
  socket.destroy()
  await untilImports(world, 0)
  await world.pool`insert into contact_imports (account_id, mode, id, status, request_id, consent_declared, created_at, updated_at)
    values (${account.id}, 'test', 'imp_01h455vb4pex5vsknk084sn02q', 'uploading', 'req_1', false, '2026-01-01', '2026-01-01')`
  await world.pool`insert into contact_import_chunks (import_id, number, first_row, rows, body) values ('imp_01h455vb4pex5vsknk084sn02q', 0, 2, 1, 'x')`

  const hidden = await account.api.get('/v1/contact_imports')
  await world.periodicJobs()

  assert.deepEqual(hidden.body.data, [])
  assert.deepEqual(await leftovers(world), { imports: 0, pieces: 0, jobs: 0 })
})

test('an Idempotency-Key is in use in every process while its upload lasts', async (t) => {
  const { world, account } = await start(t)
  const { connect } = await import('node:net')
  const csv = 'phone\n+15005551011\n'
  const socket = connect(Number(new URL(world.base_url).port), '127.0.0.1')
  socket.write(
    `POST /v1/contact_imports?consent_declared=true HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${account.key}\r\ncontent-type: text/csv\r\nidempotency-key: slow\r\ncontent-length: ${csv.length}\r\nconnection: close\r\n\r\n${csv.slice(0, 8)}`,
  )
  await untilImports(world, 1)
  const leaseEnd = async () =>
    Date.parse((await world.pool<{ lease_until: string }[]>`select lease_until from idempotency_keys`)[0]!.lease_until)

  for (let third = 1; third <= 9; third++) {
    // the test clock does not wait for the database
    await until(`the keeper of the key to sleep, ${third * 20 - 20} seconds into its upload`, () =>
      world.clock.wakesAt().includes(world.clock.now() + 20_000),
    )
    assert.equal(await leaseEnd(), world.clock.now() + 60_000)
    await world.clock.advance(20_000)
  }
  const answered = new Promise<string>((resolve) => {
    let text = ''
    socket.on('data', (chunk) => (text += String(chunk))).on('end', () => resolve(text))
  })
  socket.write(csv.slice(8))

  assert.match(await answered, /^HTTP\/1.1 202 /)
  assert.equal(
    (await send(account, csv, 'consent_declared=true', { 'idempotency-key': 'slow' })).headers['idempotent-replayed'],
    'true',
  )
})

test('imports are listed newest first, by status, and only to their own account and mode', async (t) => {
  const { world, account, api } = await start(t)
  const first = await imported(world, account, 'phone\n+15005551011\n')
  const second = await imported(world, account, 'phone\n')
  const stranger = await world.account()

  const page = await api.get('/v1/contact_imports?limit=1')
  const next = await api.get(`/v1/contact_imports?limit=1&starting_after=${page.body.next_cursor}`)
  const pending = await api.get('/v1/contact_imports?status=pending')

  assert.deepEqual(
    [page.body.data[0].id, page.body.has_more, next.body.data[0].id, next.body.has_more],
    [second.id, true, first.id, false],
  )
  assert.deepEqual([second.status, second.total], ['completed', 0])
  assert.deepEqual(pending.body.data, [])
  for (const path of [`/v1/contact_imports/${first.id}`, `/v1/contact_imports/${first.id}/errors`]) {
    assert.equal((await stranger.api.get(path)).body.error.code, 'resource_missing')
    assert.equal((await api.get(path.replace(first.id, first.id.slice(0, -1)))).body.error.code, 'resource_missing')
  }
  assert.equal(
    (await stranger.api.get(`/v1/contact_imports?starting_after=${first.id}`)).body.error.param,
    'starting_after',
  )
})

test('a repeated import with its key returns the same import', async (t) => {
  const { world, account } = await start(t)
  const csv = 'phone\n+15005551011\n'

  const first = await send(account, csv, 'consent_declared=true', { 'idempotency-key': 'k1' })
  const again = await send(account, csv, 'consent_declared=true', { 'idempotency-key': 'k1' })
  await world.settle()

  assert.deepEqual(
    [first.status, again.status, again.body.id, again.headers['idempotent-replayed']],
    [202, 202, first.body.id, 'true'],
  )
  assert.equal((await leftovers(world))!['imports'], 1)
})

test('another file with the same key is refused, also one of the same length', async (t) => {
  const { world, account } = await start(t)
  const form = (boundary: string, consent: string, csv: string) =>
    account.api.send(
      'POST',
      '/v1/contact_imports',
      { 'content-type': `multipart/form-data; boundary=${boundary}`, 'idempotency-key': 'k2' },
      `--${boundary}\r\ncontent-disposition: form-data; name="consent_declared"\r\n\r\n${consent}\r\n--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\n${csv}\r\n--${boundary}--\r\n`,
    )

  const first = await send(account, 'phone\n+15005551011\n', 'consent_declared=true', { 'idempotency-key': 'k1' })
  const other = await send(account, 'phone\n+15005551012\n', 'consent_declared=true', { 'idempotency-key': 'k1' })
  const broken = await send(account, 'phone\n"15005551012\n', 'consent_declared=true', { 'idempotency-key': 'k1' })
  const again = await send(account, 'phone\n+15005551011\n', 'consent_declared=true', { 'idempotency-key': 'k1' })
  const firstForm = await form('aaaa', 'true', 'phone\n+15005551013\n')
  const formAgain = await form('bbbb', 'true', 'phone\n+15005551013\n')
  const otherForm = await form('cccc', 'true', 'phone\n+15005551014\n')
  await world.settle()

  assert.deepEqual(
    [first.status, again.status, again.body.id, again.headers['idempotent-replayed']],
    [202, 202, first.body.id, 'true'],
  )
  assert.deepEqual([firstForm.status, formAgain.status, formAgain.body.id], [202, 202, firstForm.body.id])
  for (const refused of [other, broken, otherForm])
    assert.deepEqual([refused.status, refused.body.error?.code], [409, 'idempotency_key_reused'])
  assert.deepEqual((await everyContact(account)).map((contact: { phone: string }) => contact.phone).toSorted(), [
    '+15005551011',
    '+15005551013',
  ])
  assert.equal((await leftovers(world))!['imports'], 2)
})

test('an import reads back an export', async (t) => {
  const { world, account, api } = await start(t)
  const made = [
    {
      phone: '+15005551011',
      email: 'ada@example.com',
      first_name: '=cmd|1',
      last_name: 'O"Hara, "x"',
      locale: 'de-AT',
      timezone: 'Europe/Vienna',
      external_id: '+1-2',
      tags: ['a;b', 'say "hi"', '-x'],
      blocked: true,
      metadata: { a: [1, '=x'] },
      attributes: { n: -2.5, yes: true, text: "'=x", lines: 'a\nb', zip: '01234' },
      consent: { sms: 'opted_in', whatsapp: { status: 'opted_in', marketing: 'opted_out' } },
    },
    { email: 'only@example.com', attributes: { n: 3, text: '@home' } },
    { identifiers: { telegram: '4711' }, first_name: 'Tele', consent: { telegram: 'opted_out' } },
  ]
  for (const body of made) assert.equal((await api.post('/v1/contacts', body)).status, 201)
  const other = await world.account()

  const exported = await api.get('/v1/contacts/export')
  assert.equal(exported.headers['x-content-type-options'], 'nosniff')
  const done = await imported(world, other, exported.body)
  const again = await imported(world, account, exported.body)

  const shown = (contact: Record<string, unknown>) => {
    const { id: _id, created_at: _created, updated_at: _updated, consent, ...rest } = contact
    return {
      ...rest,
      consent: Object.fromEntries(
        Object.entries(consent as Record<string, { status: string; marketing?: string }>).map(
          ([type, { status, marketing }]) => [type, [status, marketing]],
        ),
      ),
    }
  }
  const [before, after] = [(await everyContact(account)).map(shown), (await everyContact(other)).map(shown)]
  const byAddress = (a: { email?: string }, b: { email?: string }) => ((a.email ?? '') < (b.email ?? '') ? -1 : 1)
  assert.match(exported.headers['content-type']!, /^text\/csv/)
  assert.deepEqual([done.created, done.rejected, again.created, again.updated, again.rejected], [3, 0, 0, 3, 0])
  assert.deepEqual(after.sort(byAddress), before.sort(byAddress))
  assert.ok(
    exported.body.includes(",'=cmd|1,") &&
      exported.body.includes(',+15005551011,') &&
      exported.body.includes(",'+1-2,"),
  )
  await world.invariants()
})

test('the cell of an attribute that a contact does not have is empty, whatever the key', async (t) => {
  const { api } = await start(t)
  await api.post('/v1/contacts', { email: 'ada@example.com', attributes: { constructor: 'Eiffel' } })
  await api.post('/v1/contacts', { email: 'bob@example.com' })

  const [header, bob, ada] = (await api.get('/v1/contacts/export')).body
    .split('\r\n')
    .map((line: string) => line.split(','))

  const at = header.indexOf('attributes.constructor')
  assert.deepEqual([bob[header.indexOf('email')], bob[at], ada[at]], ['bob@example.com', '', 'Eiffel'])
})

test('an export accepts the filters of the list and is not limited to a page', async (t) => {
  const { world, account, api } = await start(t)
  await imported(
    world,
    account,
    `phone,tags\n${Array.from({ length: 1203 }, (_, n) => `+1500${String(1_000_000 + n)},${n % 3 === 0 ? 'third' : ''}\n`).join('')}`,
  )
  const segment = await api.post('/v1/segments', {
    name: 'Third',
    rules: { match: 'all', conditions: [{ field: 'tags', operator: 'contains', value: 'THIRD' }] },
  })
  const stranger = await world.account()

  const lines = async (query: string, from = api) =>
    (await from.get(`/v1/contacts/export${query}`)).body.trimEnd().split('\r\n').length - 1

  assert.deepEqual(
    [await lines(''), await lines('?tag=third'), await lines(`?segment=${segment.body.id}`), await lines('?tag=none')],
    [1203, 401, 401, 0],
  )
  assert.deepEqual([await lines('', stranger.api), await lines(`?segment=${segment.body.id}`, stranger.api)], [0, 0])
  assert.equal((await api.get('/v1/contacts/export?limit=3')).body.error.param, 'limit')
})

test("a contact's whole record can be exported; after its deletion only the opt-out remains", async (t) => {
  const { world, account, api } = await start(t)
  const list = await api.post('/v1/contact_lists', { name: 'Friends' })
  const contact = await api.post('/v1/contacts', {
    phone: '+15005551011',
    email: 'ada@example.com',
    consent: { sms: 'opted_out' },
  })
  await api.post(`/v1/contact_lists/${list.body.id}/members`, { contacts: [contact.body.id] })
  const done = await imported(
    world,
    account,
    'phone,email,consent.sms,tags\n+15005551011,,opted_in,\n,nobody@example.com,maybe,\n+15005551011,,no way,\n',
  )
  const stranger = await world.account()

  const whole = await api.get(`/v1/contacts/${contact.body.id}/export`)
  assert.equal(whole.headers['x-content-type-options'], 'nosniff')
  const foreign = await stranger.api.get(`/v1/contacts/${contact.body.id}/export`)
  await api.delete(`/v1/contacts/${contact.body.id}`)
  const gone = await api.get(`/v1/contacts/${contact.body.id}/export`)
  const errors = await api.get(`/v1/contact_imports/${done.id}/errors`)
  const again = await api.post('/v1/contacts', { phone: '+15005551011' })

  assert.deepEqual(
    [
      whole.status,
      whole.body.object,
      whole.body.contact.id,
      whole.body.lists.map((each: { name: string }) => each.name),
    ],
    [200, 'contact_export', contact.body.id, ['Friends']],
  )
  assert.deepEqual(
    whole.body.consent_history.map((each: { status: string }) => each.status),
    ['opted_out'],
  )
  assert.equal(whole.body.rejected_import_rows.length, 2)
  assert.deepEqual([foreign.status, gone.status], [404, 404])
  assert.doesNotMatch(errors.body, /15005551011/)
  assert.match(errors.body, /nobody@example.com/)
  assert.equal(again.body.consent.sms.status, 'opted_out')
  await world.invariants()
})

test('rejected rows are deleted after thirty days', async (t) => {
  const { world, account, api } = await start(t)
  const done = await imported(world, account, 'phone\n12\n')

  await world.clock.advance(31 * day)
  await world.periodicJobs()
  const errors = await api.get(`/v1/contact_imports/${done.id}/errors`)

  assert.equal(errors.body.trimEnd().split('\r\n').length, 1)
})
