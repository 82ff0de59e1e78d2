/** The installed TypeScript client on the oldest Node 20, Deno, Bun and in a browser, with a network that loses an answer. */
import assert from 'node:assert/strict'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { browserContext, withoutChromium } from '../support/chromium.ts'
import { installClient, run } from '../support/client-package.ts'
import { closing } from '../support/closing.ts'
import { faultyProxy } from '../support/faulty-proxy.ts'
import { patientServer } from '../support/patient-server.ts'
import { runtimes, type Runtimes } from '../support/runtimes.ts'
import { message } from '../support/subscribing.ts'
import { within } from '../support/waiting.ts'
import { startWorld } from '../support/world.ts'

const fixtures = join(import.meta.dirname, '../fixtures/runtimes')
const { folder } = await installClient()
after(() => rm(join(folder, '..'), { recursive: true, force: true }))
for (const file of ['program.mjs', 'main.mjs']) await cp(join(fixtures, file), join(folder, file))
const installed = await runtimes().catch((error: Error) => error)
const withoutRuntimes = installed instanceof Error && process.env['CI'] === undefined && installed.message
const programWithinMs = 180_000
const bytesMax = 15 * 1024
const verifyingBytesMax = 2 * 1024
/** Deliveries are signed by the world's clock, which differs from the programs'. */
const ageMaxSeconds = 10 * 365 * 86_400

function program(name: keyof Runtimes): string {
  if (installed instanceof Error) throw installed
  return installed[name]
}

const env = {
  PATH: process.env['PATH'],
  HOME: folder,
  DENO_DIR: join(folder, 'deno'),
  DENO_NO_UPDATE_CHECK: '1',
  NO_COLOR: '1',
}

/** Input of the program and its expected output. The first response to it is lost. */
async function start(t: TestContext, settings: object = {}) {
  const world = await startWorld(t, { settings })
  const { api, key } = await world.account()
  const receiver = world.receiver()
  const endpoint = (await api.post('/v1/webhook_endpoints', { url: receiver.url, events: ['message.delivered'] })).body
  await api.post(`/v1/webhook_endpoints/${endpoint.id}/test`)
  const { body, headers } = receiver.received[0]!
  const before = [await api.post('/v1/messages', message()), await api.post('/v1/messages', message())].map(
    (answer) => answer.body.id as string,
  )
  const proxy = await faultyProxy(t, world.base_url)
  proxy.next('lose the answer')
  const given = { baseUrl: proxy.url, apiKey: key, delivery: { body, headers, secret: endpoint.secret, ageMaxSeconds } }
  return {
    given,
    before,
    endpoint,
    sends: () => proxy.seen.filter(({ method, url }) => method === 'POST' && url === '/v1/messages'),
  }
}

type Started = Awaited<ReturnType<typeof start>>

function assertAllSeen(saw: { readonly sent: readonly unknown[] }, { before, endpoint, sends }: Started): void {
  const keys = sends().map(({ headers }) => headers['idempotency-key'])

  assert.deepEqual([keys.length, new Set(keys).size], [2, 1], 'the answer that was lost was asked for again')
  assert.deepEqual(saw, {
    sent: [saw.sent[0], 'Grüße'],
    listed: [saw.sent[0], ...before.toReversed()],
    error: [true, 404, 'resource_missing', 'req_'],
    event: ['webhook.test', endpoint.id],
    forged: null,
  })
}

const commands: Readonly<Record<keyof Runtimes, { readonly called: string; readonly args: readonly string[] }>> = {
  node20: { called: 'Node 20', args: [] },
  deno: { called: 'Deno', args: ['run', '--no-prompt', '--allow-net=127.0.0.1'] },
  bun: { called: 'Bun', args: ['run'] },
}

for (const [name, { called, args }] of Object.entries(commands))
  test(
    `on ${called} a program sends once, lists, gets error classes and verifies webhooks`,
    { skip: withoutRuntimes },
    async (t) => {
      const started = await start(t)

      const { stdout } = await runIn(
        name as keyof Runtimes,
        ...args,
        join(folder, 'main.mjs'),
        JSON.stringify(started.given),
      )

      assertAllSeen(JSON.parse(stdout), started)
    },
  )

test(
  'on a page in Chromium the same program works as a module from a separate server',
  { skip: withoutChromium },
  async (t) => {
    const origin = await pageServer(t)
    const started = await start(t, { cors_origins: [origin] })
    const page = await (await browserContext(t)).newPage()
    page.setDefaultTimeout(programWithinMs)
    await page.goto(origin)

    const saw = await page.evaluate(async (given) => {
      const use = (globalThis as unknown as { use: Promise<(given: unknown) => Promise<never>> }).use
      return (await use)(given)
    }, started.given)

    assertAllSeen(saw, started)
  },
)

test(
  'a minified bundle of the client is under 15 KB gzipped, and a program that only verifies is no larger',
  { skip: withoutRuntimes },
  async () => {
    const all = await bundled('all', `export * from '@posthorn/client'`)
    const verifying = await bundled('verifying', `export { verifyWebhook } from '@posthorn/client'`)

    assert.ok(all.length > 2_000 && all.length < bytesMax, `${all.length} bytes`)
    assert.ok(verifying.length > 500 && verifying.length < verifyingBytesMax, `${verifying.length} bytes`)
  },
)

const runIn = (name: keyof Runtimes, ...args: readonly string[]) =>
  run(program(name), args, { cwd: folder, env, timeout: programWithinMs })

async function bundled(name: string, module: string): Promise<Buffer> {
  await writeFile(join(folder, `${name}.mjs`), module)
  const { stdout } = await runIn(
    'bun',
    'build',
    '--minify',
    '--target=browser',
    '--format=esm',
    join(folder, `${name}.mjs`),
  )
  return gzipSync(stdout, { level: 9 })
}

const page = `<!doctype html><script type="importmap">{ "imports": { "@posthorn/client": "/node_modules/@posthorn/client/dist/index.js" } }</script>
<script type="module">
  globalThis.use = Promise.all([import('@posthorn/client'), import('/program.mjs')]).then(([client, { useClient }]) => (given) => useClient(client, given))
</script>`

/** Serves the page, the program and the package's files; resolves to the origin. */
async function pageServer(t: TestContext): Promise<string> {
  const server = patientServer((request, response) => {
    if (request.url === '/') response.writeHead(200, { 'content-type': 'text/html' }).end(page)
    else
      readFile(join(folder, new URL(request.url!, 'http://page').pathname)).then(
        (file) => response.writeHead(200, { 'content-type': 'text/javascript' }).end(file),
        () => response.writeHead(404).end(),
      )
  })
  server.listen(0, '127.0.0.1')
  await within('the page to be served', once(server, 'listening'))
  closing(t, () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
