/** Integration sources: upserts, keys, secrets, and disabled or deleted sources (behaviour: integrations 1, 2). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWorld } from '../support/world.ts'

const shop = { platform: 'WooCommerce', external_id: 'shop.example.com' }

test('a source is created with its secrets and found again without them, in any spelling of its platform', async (t) => {
  const world = await startWorld(t)
  const { api, id: account_id } = await world.account()
  const base_url = world.app.platform.settings.base_url

  const created = await api.post('/v1/integration_sources', {
    ...shop,
    emits: ['order.paid', 'order.paid', 'order.created'],
    plugin_version: '1.2',
  })
  const { source_key, signing_secret, ...source } = created.body
  const again = await api.post('/v1/integration_sources', { ...shop, platform: 'woocommerce' })
  const changed = await api.post('/v1/integration_sources', {
    ...shop,
    name: 'Shop',
    plugin_version: null,
    url: 'https://shop.example.com',
  })

  assert.equal(created.status, 201)
  assert.match(source_key, /^svc_src_[0-9A-Za-z]{38}$/)
  assert.match(signing_secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.deepEqual(source, {
    id: source.id,
    object: 'integration_source',
    mode: 'test',
    platform: 'woocommerce',
    external_id: 'shop.example.com',
    name: 'woocommerce shop.example.com',
    url: null,
    status: 'active',
    plugin_version: '1.2',
    platform_version: null,
    emits: ['order.paid', 'order.created'],
    enabled_events: [],
    event_settings: {},
    settings: { contact_sync: true, consent_mode: 'implied', store_all_events: false },
    console_url: `${base_url}/console/${account_id}/test/integrations/${source.id}`,
    automation_url_template: `${base_url}/console/${account_id}/test/automations/new?source=${source.id}&event_type={event_type}`,
    ingest_urls: {
      woocommerce: `${base_url}/v1/ingest/woocommerce/${source.id}`,
      custom: `${base_url}/v1/ingest/custom/${source.id}`,
    },
    config_version: 1,
    last_event_at: null,
    created_at: world.clock.iso(),
  })
  assert.deepEqual([again.status, again.body], [200, source])
  assert.deepEqual(
    [changed.status, changed.body],
    [200, { ...source, name: 'Shop', plugin_version: null, url: 'https://shop.example.com', config_version: 2 }],
  )
})

test('sources are listed newest first, and the cursor of a deleted one works', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const ids: string[] = []
  for (const external_id of ['a', 'b', 'c'])
    ids.unshift((await api.post('/v1/integration_sources', { platform: 'custom', external_id })).body.id)

  const first = await api.get('/v1/integration_sources?limit=2')
  const deleted = await api.delete(`/v1/integration_sources/${ids[1]}`)
  const rest = await api.get(`/v1/integration_sources?starting_after=${first.body.next_cursor}`)
  const gone = await api.get(`/v1/integration_sources/${ids[1]}`)
  const wrong = await api.get('/v1/integration_sources?starting_after=src_01kg9p6je0e6z9vsnhtbf6d24v')

  assert.deepEqual([first.body.data.map(({ id }: { id: string }) => id), first.body.has_more], [ids.slice(0, 2), true])
  assert.deepEqual(
    [rest.body.data.map(({ id }: { id: string }) => id), rest.body.has_more, rest.body.next_cursor],
    [[ids[2]], false, null],
  )
  assert.deepEqual([deleted.status, deleted.body], [200, { id: ids[1], object: 'integration_source', deleted: true }])
  assert.deepEqual([gone.status, wrong.status, wrong.body.error.param], [404, 400, 'starting_after'])
  assert.equal((await api.delete(`/v1/integration_sources/${ids[1]}`)).status, 404)
})

test('a mode has at most fifty sources, also with concurrent creation; existing ones are still updated', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const answers = await Promise.all(
    Array.from({ length: 55 }, (_, n) =>
      api.post('/v1/integration_sources', { platform: 'custom', external_id: String(n) }),
    ),
  )
  const refused = answers.filter(({ status }) => status !== 201)
  const known = answers.findIndex(({ status }) => status === 201)
  const updated = await api.post('/v1/integration_sources', {
    platform: 'custom',
    external_id: String(known),
    name: 'Known',
  })

  assert.equal(answers.filter(({ status }) => status === 201).length, 50)
  assert.ok(
    refused.every(({ status, body }) => status === 400 && body.error.code === 'integration_source_limit_reached'),
  )
  assert.deepEqual([updated.status, updated.body.name], [200, 'Known'])
})

test('two concurrent creations of one source create it once and show its secrets once', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const answers = await Promise.all(Array.from({ length: 5 }, () => api.post('/v1/integration_sources', shop)))

  assert.deepEqual(answers.map(({ status }) => String(status)).toSorted(), ['200', '200', '200', '200', '201'])
  assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1)
  assert.equal(answers.filter(({ body }) => 'source_key' in body).length, 1)
})

test('a plugin reads and changes its own source with its key, and gets 304 if nothing has changed', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const created = await api.post('/v1/integration_sources', shop)
  const plugin = world.api(created.body.source_key)
  const path = '/v1/integration_sources/current'

  const read = await plugin.get(path)
  const held = await Promise.all(
    ['1', '"1"', 'W/"1"', '*', '"0", W/"1"'].map((tag) => plugin.get(path, { 'if-none-match': tag })),
  )
  const changed = await plugin.patch(path, {
    emits: ['order.paid'],
    status: 'disabled',
    settings: { contact_sync: false },
  })
  const newer = await plugin.get(path, { 'if-none-match': '"1"' })

  assert.deepEqual(
    [read.status, read.headers['etag'], read.body.id, 'signing_secret' in read.body],
    [200, '"1"', created.body.id, false],
  )
  for (const { status, body, headers } of held) {
    assert.deepEqual([status, body, headers['etag']], [304, '', '"1"'])
    assert.ok(headers['x-request-id'] !== undefined && headers['ratelimit-limit'] !== undefined)
  }
  assert.deepEqual(
    [changed.status, changed.body.emits, changed.body.status, changed.body.settings.contact_sync],
    [200, ['order.paid'], 'active', true],
  )
  assert.equal(changed.headers['service-ignored-fields'], 'status, settings')
  assert.deepEqual([newer.status, newer.headers['etag'], newer.body.config_version], [200, '"2"', 2])
  assert.equal((await api.get(`/v1/integration_sources/${created.body.id}`, { 'if-none-match': '"2"' })).status, 304)
})

test('a source key works for its own source only, and an API key does not replace it', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const { source_key, id } = (await api.post('/v1/integration_sources', shop)).body
  const plugin = world.api(source_key)
  const code = async (answer: ReturnType<typeof api.get>) => {
    const { status, body, headers } = await answer
    return [status, body.error.code, 'ratelimit-limit' in headers]
  }

  assert.deepEqual(await code(plugin.get('/v1/me')), [401, 'api_key_invalid', false])
  assert.deepEqual(await code(plugin.get(`/v1/integration_sources/${id}`)), [401, 'api_key_invalid', false])
  assert.deepEqual(await code(plugin.get('/v1/nothing')), [401, 'api_key_invalid', false])
  assert.deepEqual(await code(api.get('/v1/integration_sources/current')), [403, 'scope_missing', true])
  assert.deepEqual(await code(api.patch('/v1/integration_sources/current', { name: 'x' })), [
    403,
    'scope_missing',
    true,
  ])
  assert.deepEqual(
    await code(
      world
        .api(`${source_key.slice(0, -1)}${source_key.endsWith('x') ? 'y' : 'x'}`)
        .get('/v1/integration_sources/current'),
    ),
    [401, 'api_key_invalid', false],
  )
  assert.deepEqual(await code(world.api().get('/v1/integration_sources/current')), [401, 'api_key_missing', false])
})

test('a rolled key is refused at once, a disabled source until it is active again, and a deleted one is unknown', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const created = (await api.post('/v1/integration_sources', shop)).body
  const current = async (key: string) => {
    const { status, body, headers } = await world.api(key).get('/v1/integration_sources/current')
    return status === 200 ? 200 : [status, body.error.code, 'ratelimit-limit' in headers]
  }
  const before = await current(created.source_key)

  const rolled = await api.post(`/v1/integration_sources/${created.id}/roll_key`, undefined, {
    'idempotency-key': 'roll',
  })
  const replayed = await api.post(`/v1/integration_sources/${created.id}/roll_key`, undefined, {
    'idempotency-key': 'roll',
  })
  const afterRoll = [await current(created.source_key), await current(rolled.body.source_key)]
  await api.patch(`/v1/integration_sources/${created.id}`, { status: 'disabled' })
  const disabled = await current(rolled.body.source_key)
  const upserted = await api.post('/v1/integration_sources', { ...shop, name: 'Again' })
  await api.patch(`/v1/integration_sources/${created.id}`, { status: 'active' })
  const enabled = await current(rolled.body.source_key)
  await api.delete(`/v1/integration_sources/${created.id}`)

  assert.equal(before, 200)
  assert.deepEqual([replayed.body, replayed.headers['idempotent-replayed']], [rolled.body, 'true'])
  assert.notEqual(rolled.body.signing_secret, created.signing_secret)
  assert.deepEqual(afterRoll, [[401, 'api_key_invalid', false], 200])
  assert.deepEqual([disabled, upserted.body.status, enabled], [[403, 'source_disabled', true], 'disabled', 200])
  assert.deepEqual(await current(rolled.body.source_key), [401, 'api_key_invalid', false])
  assert.equal((await api.post('/v1/integration_sources', shop)).status, 201)
})

test('an update changes only the given settings, and the version only with them', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const { id } = (await api.post('/v1/integration_sources', shop)).body
  const patch = (body: unknown) => api.patch(`/v1/integration_sources/${id}`, body)

  const explicit = await patch({ settings: { consent_mode: 'explicit' } })
  const all = await patch({ settings: { store_all_events: true } })
  const same = await patch({ settings: { store_all_events: true }, name: all.body.name })
  const secret = await patch({ signing_secret: 'shpss_0123456789' })
  const secretAgain = await patch({ signing_secret: 'shpss_0123456789' })
  const short = await patch({ signing_secret: 'short', name: '', settings: { unheard: 1 } })

  assert.deepEqual(explicit.body.settings, { contact_sync: true, consent_mode: 'explicit', store_all_events: false })
  assert.deepEqual([all.body.settings.consent_mode, all.body.enabled_events], ['explicit', ['*']])
  assert.deepEqual(
    [explicit, all, same, secret, secretAgain].map(({ body }) => body.config_version),
    [2, 3, 3, 4, 4],
  )
  assert.ok(!JSON.stringify(secret.body).includes('shpss_'))
  assert.deepEqual(
    [short.status, short.body.error.details.map(({ param }: { param: string }) => param).toSorted()],
    [400, ['name', 'settings.unheard', 'signing_secret']],
  )
})

test('an invalid source is refused with all errors at once', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const nothing = await api.post('/v1/integration_sources', {})
  const wrong = await api.post('/v1/integration_sources', {
    platform: 'no slug',
    external_id: '',
    name: 'x'.repeat(121),
    url: 'javascript:alert(1)',
    plugin_version: 'x'.repeat(65),
    emits: 'all',
  })

  assert.deepEqual([nothing.status, nothing.body.error.code], [400, 'parameter_missing'])
  assert.deepEqual(wrong.body.error.details.map(({ param }: { param: string }) => param).toSorted(), [
    'emits',
    'external_id',
    'name',
    'platform',
    'plugin_version',
    'url',
  ])
})

test('a source has a web address and a non-blank name, by API key and by source key', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const { id, source_key } = (await api.post('/v1/integration_sources', shop)).body
  const plugin = world.api(source_key)

  for (const url of [
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://shop.example.com',
    'shop.example.com',
    'https://',
    '',
  ])
    for (const name of ['', ' ', '\t\n']) {
      const body = { name, url }
      const answers = [
        await api.post('/v1/integration_sources', { ...shop, ...body }),
        await api.patch(`/v1/integration_sources/${id}`, body),
        await plugin.patch('/v1/integration_sources/current', body),
      ]
      for (const refused of answers) {
        assert.deepEqual([refused.status, refused.body.error.code], [400, 'parameter_invalid'])
        assert.deepEqual(
          refused.body.error.details.map(({ message }: { message: string }) => message),
          ['`name` must be a name that is not blank.', '`url` must be an http or https URL.'],
        )
      }
    }
  const kept = await plugin.patch('/v1/integration_sources/current', {
    name: ' Shop ',
    url: 'http://shop.example.com/?a=1',
  })

  assert.deepEqual(
    [kept.status, kept.body.name, kept.body.url, kept.body.config_version],
    [200, ' Shop ', 'http://shop.example.com/?a=1', 2],
  )
})
