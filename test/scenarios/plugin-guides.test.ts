/** The plugin of its guide behaves as the guide promises; guides.test.ts runs the page itself. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { blocksOf } from '../support/pages/blocks.ts'
import { startWorld, type World } from '../support/world.ts'

const guides = join(import.meta.dirname, '../../docs/guides')
const run = promisify(execFile)

async function blocksIn(language: string): Promise<string[]> {
  const blocks = blocksOf(await readFile(join(guides, 'plugins.md'), 'utf8'))
  return blocks.filter((block) => block.language === language).map(({ text }) => text)
}

interface Settings {
  readonly etag: string
  readonly enabled_events: string[]
  readonly signing_secret: string
}

interface Plugin {
  register(base: string, api_key: string, site: object): Promise<Settings>
  poll(settings: Settings): Promise<Settings>
  onOrderStatus(settings: Settings, order: object): Promise<boolean>
}

/** The plugin gets the test's address in place of the public one. */
async function pluginOf(t: TestContext, world: World): Promise<Plugin> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-plugin-'))
  const [text] = await blocksIn('ts')
  const file = join(folder, 'plugin.ts')
  const inner = globalThis.fetch
  const { base_url } = world.app.platform.settings
  globalThis.fetch = (address, init) => inner(String(address).replace(base_url, world.base_url), init)
  t.after(async () => {
    globalThis.fetch = inner
    await rm(folder, { recursive: true })
  })
  await writeFile(file, text!)
  return (await import(pathToFileURL(file).href)) as Plugin
}

const order = {
  id: 1001,
  number: '#1001',
  status: 'shipped',
  total: '59.99',
  currency: 'EUR',
  tracking_url: 'https://carrier.example.com/1',
  customer: {
    id: 7,
    phone: '+49 151 1234-5678',
    email: 'erika@example.com',
    first_name: 'Erika',
    accepts_marketing: false,
  },
}

test('the plugin of the guide registers, polls for wanted events, reports each once, and stops when disabled', async (t) => {
  const world = await startWorld(t)
  // the plugin signs with the machine's time
  world.clock.jump(Date.parse((await world.api().get('/healthz')).headers['date']!) - world.clock.now())
  const { api, key } = await world.account()
  const { register, poll, onOrderStatus } = await pluginOf(t, world)
  const site = { id: 'shop-1', name: 'Shop', url: 'https://shop.example.com' }
  const receipts = async () => (await api.get('/v1/automation_events')).body.data

  const registered = await register(world.base_url, key, site)
  await onOrderStatus(registered, order)
  const unwanted = await receipts()
  const source = (await api.get('/v1/integration_sources')).body.data[0]
  const command = (await blocksIn('sh')).find((each) => each.includes('/v1/automations '))
  await run('bash', ['-ec', command!.replace('src_…', source.id)], {
    env: { ...process.env, BASE: world.base_url, KEY: key },
  })
  const wanted = await poll(registered)
  const unchanged = await poll(wanted)
  const reported = [await onOrderStatus(wanted, order), await onOrderStatus(wanted, order)]
  await world.settle()
  const [receipt] = await receipts()
  const [message] = (await api.get('/v1/messages')).body.data
  await api.patch(`/v1/integration_sources/${source.id}`, { status: 'disabled' })
  const stopped = await poll(unchanged)
  await api.patch(`/v1/integration_sources/${source.id}`, { status: 'active' })
  const again = await register(world.base_url, key, site)

  assert.deepEqual(
    [source.platform, source.external_id, source.emits],
    ['myshop', 'shop-1', ['order.paid', 'order.shipped', 'order.cancelled']],
  )
  assert.deepEqual([registered.enabled_events, unwanted], [[], []])
  assert.deepEqual([wanted.enabled_events, unchanged, reported], [['order.shipped'], wanted, [true, true]])
  assert.deepEqual(
    [receipt.type, receipt.status, receipt.runs.length, (await receipts()).length],
    ['order.shipped', 'accepted', 1, 1],
  )
  assert.deepEqual(
    [message.to, message.content.text.body],
    ['+4915112345678', 'Hello Erika, #1001 is on its way: https://carrier.example.com/1'],
  )
  assert.deepEqual(stopped.enabled_events, [])
  assert.notEqual(again.signing_secret, registered.signing_secret)
})
