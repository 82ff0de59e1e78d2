/** Snapshots of audiences. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Tenant } from '../../src/api/caller.ts'
import { startProcess } from '../support/process.ts'
import { until } from '../support/waiting.ts'
import { startWorld, type TestAccount, type World } from '../support/world.ts'

const text = {
  channel: 'ch_test_sms',
  message: { type: 'text', text: { body: 'Hello' } },
  consent_declared: true,
  launch: true,
}
const phone = (n: number): string => `+4915${String(100_000_000 + n)}`

async function manyContacts(world: World, account: TestAccount, from: number, count: number): Promise<string[]> {
  const items = Array.from({ length: count }, (_, i) => ({
    kind: 'create' as const,
    change: { phone: phone(from + i), tags: ['all'] },
  }))
  const context = { at: world.clock.iso(0), source: 'api' as const }
  const results = await world.services.contacts.save(
    world.pool,
    { account_id: account.id, mode: account.mode } as Tenant,
    items,
    context,
  )
  return results.map((result) => (result.outcome === 'refused' ? assert.fail(result.reason) : result.row.id))
}

interface Recipient {
  readonly id: string
  readonly contact_id: string | null
  readonly to: string
  readonly status: string
  readonly skip_reason: string | null
}

async function recipientsOf({ api }: TestAccount, id: string, query = ''): Promise<Recipient[]> {
  const all: Recipient[] = []
  let after: string | null = null
  for (let pages = 0; pages < 100; pages++) {
    const page: { data: Recipient[]; has_more: boolean; next_cursor: string | null } = (
      await api.get(
        `/v1/campaigns/${id}/recipients?limit=100${query}${after === null ? '' : `&starting_after=${after}`}`,
      )
    ).body
    all.push(...page.data)
    if (!page.has_more) return all
    after = page.next_cursor
  }
  return assert.fail('the list of recipients has no end')
}

/** A slow machine retries a chunk with fewer contacts. */
async function snapshots(world: World): Promise<void> {
  const due = async () =>
    await world.pool`select campaign_id from campaign_jobs where kind = 'snapshot' and next_run_at <= ${world.clock.iso()}`
  await until(
    'the snapshots that are due to be taken',
    async () => {
      await world.settle('campaign-snapshots')
      return await due()
    },
    (jobs) => jobs.length === 0,
  )
}
const rowsOf = async (world: World): Promise<number> =>
  (await world.pool<{ rows: number }[]>`select count(*) as rows from campaign_recipients`)[0]!.rows

async function firstChunk(world: World): Promise<number> {
  for (let turn = 0; turn < 10 && (await rowsOf(world)) === 0; turn++) await world.tick('campaign-snapshots')
  return await rowsOf(world)
}

test('lists, tags and segments select their contacts, and each skipped one has a reason', async (t) => {
  const world = await startWorld(t)
  const { api, ...account } = await world.account()
  const made: string[] = []
  for (const contact of [
    { phone: phone(1), tags: ['VIP'], consent: { sms: 'opted_in' }, first_name: 'Ada' },
    { phone: phone(2), tags: ['vip', 'News'], consent: { sms: 'opted_out' } },
    { email: 'ada@example.com', tags: ['vip'] },
    { phone: phone(3), tags: ['news'], consent: { sms: 'unknown' } },
    { phone: phone(4), tags: ['vip', 'news'], consent: { sms: 'opted_in' } },
    { phone: phone(5) },
  ])
    made.push((await api.post('/v1/contacts', contact)).body.id)
  await api.patch(`/v1/contacts/${made[4]}`, { blocked: true })
  const list = (await api.post('/v1/contact_lists', { name: 'L' })).body.id
  await api.post(`/v1/contact_lists/${list}/members`, { contacts: [made[0], made[3], made[5]] })
  const segment = (
    await api.post('/v1/segments', {
      name: 'S',
      rules: { match: 'any', conditions: [{ field: 'tags', operator: 'contains', value: 'NEWS' }] },
    })
  ).body.id
  const audiences = [
    { audience: { type: 'list', list_id: list }, require_opt_in: true },
    { audience: { type: 'tags', tags: ['vip', 'NEWS'] } },
    { audience: { type: 'tags', tags: ['Vip', 'news'], match: 'all' } },
    { audience: { type: 'segment', segment_id: segment } },
  ]
  const ids = []
  for (const [i, audience] of audiences.entries())
    ids.push((await api.post('/v1/campaigns', { ...text, ...audience, name: `Campaign ${i}` })).body.id)

  await snapshots(world)

  const found = []
  for (const id of ids)
    found.push(
      (await recipientsOf({ api, ...account }, id)).map((one) => [
        one.id,
        made.indexOf(one.contact_id!),
        one.to,
        one.skip_reason,
      ]),
    )
  assert.deepEqual(found, [
    [
      ['1', 0, phone(1), null],
      ['2', 3, phone(3), 'not_opted_in'],
      ['3', 5, phone(5), 'not_opted_in'],
    ],
    [
      ['1', 0, phone(1), null],
      ['2', 1, phone(2), 'unsubscribed'],
      ['3', 2, '', 'no_identifier'],
      ['4', 3, phone(3), null],
      ['5', 4, phone(4), 'unsubscribed'],
    ],
    [
      ['1', 1, phone(2), 'unsubscribed'],
      ['2', 4, phone(4), 'unsubscribed'],
    ],
    [
      ['1', 1, phone(2), 'unsubscribed'],
      ['2', 3, phone(3), null],
      ['3', 4, phone(4), 'unsubscribed'],
    ],
  ])
  const { counters } = (await api.get(`/v1/campaigns/${ids[1]}`)).body
  assert.deepEqual([counters.total, counters.queued, counters.skipped], [5, 2, 3])
  assert.deepEqual(counters.skip_reasons, { unsubscribed: 2, no_identifier: 1 })
})

test('SMS needs a phone number, WhatsApp a phone number or business-scoped id, other channels the identifier', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  for (const contact of [
    { phone: phone(1), identifiers: { telegram: '17' } },
    { identifiers: { whatsapp: 'US.13491208655302741918' } },
  ])
    await account.api.post('/v1/contacts', { ...contact, tags: ['all'] })
  const of = async (channel: string) =>
    (
      await account.api.post('/v1/campaigns', {
        ...text,
        channel,
        name: channel,
        audience: { type: 'tags', tags: ['all'] },
      })
    ).body.id
  const [telegram, whatsapp] = [await of('ch_test_telegram'), await of('ch_test_whatsapp')]

  await snapshots(world)

  const shown = async (id: string) => (await recipientsOf(account, id)).map(({ to, skip_reason }) => [to, skip_reason])
  assert.deepEqual(await shown(telegram), [
    ['17', null],
    ['', 'no_identifier'],
  ])
  assert.deepEqual(await shown(whatsapp), [
    [phone(1), null],
    ['US.13491208655302741918', null],
  ])
})

test('an audience that is too large at its snapshot fails the campaign without recipients', async (t) => {
  const world = await startWorld(t, { settings: { campaign_recipient_limit: 2200 } })
  const account = await world.account()
  const { api } = account
  await manyContacts(world, account, 0, 2200)
  const segment = (
    await api.post('/v1/segments', {
      name: 'S',
      rules: { match: 'all', conditions: [{ field: 'phone', operator: 'exists' }] },
    })
  ).body.id
  const of = async (name: string) =>
    (await api.post('/v1/campaigns', { ...text, name, audience: { type: 'segment', segment_id: segment } })).body.id

  const fits = await of('2200')
  await snapshots(world)
  const large = await of('2201')
  await manyContacts(world, account, 2200, 1)
  const refused = await api.post('/v1/campaigns', {
    ...text,
    name: 'refused',
    audience: { type: 'segment', segment_id: segment },
  })
  await snapshots(world)
  await world.tick('campaigns')

  assert.deepEqual(
    [(await api.get(`/v1/campaigns/${fits}`)).body.status, (await recipientsOf(account, fits)).length],
    ['sending', 2200],
  )
  assert.deepEqual([refused.status, refused.body.error.code], [400, 'campaign_limit_exceeded'])
  const failed = (await api.get(`/v1/campaigns/${large}`)).body
  assert.deepEqual([failed.status, failed.failure_reason, failed.counters.total], ['failed', 'audience_too_large', 0])
  await world.tick('campaigns')
  assert.deepEqual([await recipientsOf(account, large), await rowsOf(world)], [[], 2200])
})

test('changes during the snapshot affect neither the rules nor which contact owns an address', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const { api } = account
  const made = await manyContacts(world, account, 0, 2100)
  const rules = { match: 'all', conditions: [{ field: 'tags', operator: 'contains', value: 'all' }] }
  const segment = (await api.post('/v1/segments', { name: 'S', rules })).body.id
  const { id } = (
    await api.post('/v1/campaigns', { ...text, name: 'C', audience: { type: 'segment', segment_id: segment } })
  ).body

  const rows = await firstChunk(world)
  assert.deepEqual([rows < 2050, (await api.get(`/v1/campaigns/${id}`)).body.counters.total], [true, 0])
  await api.delete(`/v1/segments/${segment}`)
  await api.patch(`/v1/contacts/${made[0]}`, { phone: phone(9000) })
  await api.patch(`/v1/contacts/${made[2050]}`, { phone: phone(0) })
  await snapshots(world)

  const recipients = await recipientsOf(account, id)
  assert.deepEqual(
    recipients.map((one) => Number(one.id)),
    Array.from({ length: 2100 }, (_, i) => i + 1),
  )
  assert.deepEqual(
    (await recipientsOf(account, id, `&to=${encodeURIComponent(phone(0))}`)).map((one) => [
      one.id,
      one.contact_id,
      one.skip_reason,
    ]),
    [
      ['1', made[0], null],
      ['2051', made[2050], 'duplicate'],
    ],
  )
  assert.equal((await recipientsOf(account, id, '&status=skipped')).length, 1)
})

test('an address that moves to another contact during the snapshot gets one message, even if one of the contacts is skipped', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const { api } = account
  const made = await manyContacts(world, account, 0, 2100)
  const { id } = (await api.post('/v1/campaigns', { ...text, name: 'C', audience: { type: 'tags', tags: ['all'] } }))
    .body
  assert.ok((await firstChunk(world)) < 2050)
  const requested_at = world.clock.iso(-2000)

  await api.delete(`/v1/contacts/${made[0]}`)
  const moved = await api.patch(`/v1/contacts/${made[2050]}`, { phone: phone(0) })
  // began before the snapshot, commits after the first chunk
  await api.patch(`/v1/contacts/${made[1]}`, { phone: phone(9001) })
  await api.patch(`/v1/contacts/${made[2051]}`, { phone: phone(1) })
  await world.pool`update contacts set updated_at = ${requested_at} where id in ${world.pool([made[1]!, made[2051]!])}`
  await snapshots(world)

  assert.equal(moved.status, 200)
  const found = async (n: number) =>
    (await recipientsOf(account, id, `&to=${encodeURIComponent(phone(n))}`)).map((one) => [
      one.contact_id,
      one.status,
      one.skip_reason,
    ])
  assert.deepEqual(await found(0), [
    [made[0], 'skipped', 'contact_deleted'],
    [made[2050], 'pending', null],
  ])
  assert.deepEqual(await found(1), [
    [made[1], 'pending', null],
    [made[2051], 'skipped', 'duplicate'],
  ])
})

test('a campaign paused, cancelled or abandoned during its snapshot continues, or leaves nothing', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const { api } = account
  await manyContacts(world, account, 0, 4200)
  const of = async (name: string) =>
    (await api.post('/v1/campaigns', { ...text, name, audience: { type: 'tags', tags: ['all'] } })).body.id
  const other = await startProcess(t, world, 'other')

  const cancelled = await of('cancelled')
  await firstChunk(world)
  const shown = (await api.post(`/v1/campaigns/${cancelled}/cancel`)).body
  assert.deepEqual([shown.status, shown.counters.total, await rowsOf(world)], ['cancelled', 0, 0])

  const paused = await of('paused')
  const rows = await firstChunk(world)
  await api.post(`/v1/campaigns/${paused}/pause`)
  await snapshots(world)
  assert.equal(await rowsOf(world), rows)
  await api.post(`/v1/campaigns/${paused}/resume`)
  for (let turn = 0; turn < 50; turn++) await other.app.worker('campaign-snapshots').tick()

  const recipients = await recipientsOf(account, paused)
  assert.deepEqual(
    recipients.map((one) => one.to),
    Array.from({ length: 4200 }, (_, i) => phone(i)),
  )
  assert.equal((await api.get(`/v1/campaigns/${paused}`)).body.counters.total, 4200)
})

test('a snapshot of thousands with kills and concurrent changes contains everybody once', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const { api } = account
  const made = await manyContacts(world, account, 0, 20_000)
  const { id } = (await api.post('/v1/campaigns', { ...text, name: 'C', audience: { type: 'tags', tags: ['all'] } }))
    .body
  const written = [0]
  let inTheMidst = 0
  const gone: string[] = []
  const stopped: string[] = []

  for (let life = 0; life < 3; life++) {
    const victim = await startProcess(t, world, `victim ${life}`)
    for (let pass = 0; pass < 10 && (await rowsOf(world)) <= written.at(-1)!; pass++)
      await victim.tickWhileTimePasses('campaign-snapshots')
    written.push(await rowsOf(world))
    let isOver = false
    const last = victim
      .tickWhileTimePasses('campaign-snapshots')
      .catch(() => undefined)
      .finally(() => void (isOver = true))
    const isWriting = async () =>
      (
        await world.pool`select 1 from pg_stat_activity where application_name like ${`%${victim.name}%`} and state = 'active' and query like '%insert into campaign_recipients%'`
      ).length > 0
    await until('a chunk that is written', async () => isOver || (await isWriting()))
    if (!isOver) inTheMidst++
    await victim.kill()
    await last
    await world.clock.advance(15_000)
    await world.tick('heartbeat')
    // one contact before and one after the current position
    const [before, after] = [made[life]!, made[18_900 + life]!]
    for (const contact of [before, after]) await api.delete(`/v1/contacts/${contact}`)
    gone.push(after)
    stopped.push(made[19_000 + life]!)
    await api.patch(`/v1/contacts/${stopped.at(-1)}`, { consent: { sms: { status: 'opted_out' } } })
    made.push(...(await manyContacts(world, account, 21_000 + life, 1)))
  }
  await snapshots(world)

  assert.ok(
    written.every((rows, i) => i === 0 || (rows > written[i - 1]! && rows < 18_900)),
    `written by each: ${written.join()}`,
  )
  t.diagnostic(`${inTheMidst} of 3 killed in the midst of a chunk`)
  const rows = await world.pool<{ n: number; contact_id: string; status: string; skip_reason: string | null }[]>`
    select n, contact_id, status, skip_reason from campaign_recipients where campaign_id = ${id} order by n`
  const expected = made.filter((contact) => !gone.includes(contact)).toSorted()
  assert.deepEqual(
    rows.map(({ n }) => n),
    expected.map((_, i) => i + 1),
  )
  assert.deepEqual(
    rows.map(({ contact_id }) => contact_id),
    expected,
  )
  const reasons = Object.fromEntries(
    rows.filter(({ skip_reason }) => skip_reason !== null).map((row) => [row.contact_id, row.skip_reason]),
  )
  assert.deepEqual(reasons, {
    ...Object.fromEntries(made.slice(0, 3).map((contact) => [contact, 'contact_deleted'])),
    ...Object.fromEntries(stopped.map((contact) => [contact, 'unsubscribed'])),
  })
  const { status, counters } = (await api.get(`/v1/campaigns/${id}`)).body
  assert.deepEqual(
    [status, counters.total, counters.queued, counters.skipped],
    ['sending', rows.length, rows.length - 6, 6],
  )
})

test('large audiences do not delay a small one', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  await manyContacts(world, account, 0, 4200)
  const large = { type: 'tags', tags: ['all'] }
  const small = { type: 'adhoc', recipients: [{ to: phone(1) }] }
  const ids = []
  for (const [i, audience] of [large, large, large, small].entries()) {
    ids.push((await account.api.post('/v1/campaigns', { ...text, name: `C${i}`, audience })).body.id)
    await world.clock.advance(1)
  }

  for (let turn = 0; turn < 4; turn++) {
    await world.tick('campaign-snapshots')
    await world.clock.advance(1)
  }

  const statuses = []
  for (const id of ids) statuses.push((await account.api.get(`/v1/campaigns/${id}`)).body.status)
  assert.deepEqual(statuses, ['queued', 'queued', 'queued', 'sending'])
})

test('ad-hoc recipients are saved as contacts if requested, up to the limit, and opt-outs apply', async (t) => {
  const world = await startWorld(t, { settings: { contact_limit: 3 } })
  const account = await world.account()
  const { api } = account
  const known = (await api.post('/v1/contacts', { phone: phone(1), first_name: 'Ada', consent: { sms: 'opted_out' } }))
    .body.id
  const gone = (await api.post('/v1/contacts', { phone: phone(2), consent: { sms: 'opted_out' } })).body.id
  await api.delete(`/v1/contacts/${gone}`)
  const recipients = [
    { to: phone(1), first_name: 'Other' },
    { to: phone(2), first_name: ' ', last_name: '' },
    { to: phone(3), first_name: 'Grace', last_name: ' Hopper ' },
    { to: 'nobody' },
    { to: phone(3), first_name: 'Twice' },
    { to: phone(4) },
  ]
  const campaign = { ...text, name: 'C', audience: { type: 'adhoc', recipients, save_as_contacts: true } }
  const draft = (await api.post('/v1/campaigns', { ...campaign, launch: false })).body
  assert.equal((await api.get('/v1/contacts')).body.data.length, 1)

  await api.post(`/v1/campaigns/${draft.id}/launch`)
  await snapshots(world)

  const contacts = (await api.get('/v1/contacts')).body.data.toReversed()
  assert.deepEqual(
    contacts.map((one: { phone: string; full_name: string | null; consent: { sms?: { status: string } } }) => [
      one.phone,
      one.full_name,
      one.consent.sms?.status,
    ]),
    [
      [phone(1), 'Ada', 'opted_out'],
      [phone(2), null, 'opted_out'],
      [phone(3), 'Grace Hopper', undefined],
    ],
  )
  assert.equal(contacts[0].id, known)
  assert.deepEqual(
    (await recipientsOf(account, draft.id)).map((one) => [one.to, one.contact_id, one.skip_reason]),
    [
      [phone(1), known, 'unsubscribed'],
      [phone(2), contacts[1].id, 'unsubscribed'],
      [phone(3), contacts[2].id, null],
      ['nobody', null, 'invalid_identifier'],
      [phone(3), contacts[2].id, 'duplicate'],
      [phone(4), null, null],
    ],
  )
})
