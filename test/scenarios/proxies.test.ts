/** The proxy configurations of deploy/, each in front of a service: TLS, client addresses, every public path, bodies up to the service's limits, and live events. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { Agent, request, type Dispatcher } from 'undici'
import { limits } from '../../src/api/limits.ts'
import { certificate, certificateKey } from '../support/certificate.ts'
import { closing } from '../support/closing.ts'
import { signedInOwner } from '../support/console-api.ts'
import { ownPort } from '../support/own-port.ts'
import { until, within } from '../support/waiting.ts'
import { startWorld } from '../support/world.ts'

const deploy = join(import.meta.dirname, '../../deploy')
const has = (program: string) =>
  spawnSync('sh', ['-c', `command -v ${program}`]).status === 0 || existsSync(`/usr/sbin/${program}`)
const without = (program: string): string | false =>
  process.env['CI'] === undefined && !has(program) && `needs ${program} (Debian: \`apt install ${program}\`)`

interface Ports {
  readonly http: number
  readonly https: number
  readonly service: string
}

interface Proxy {
  readonly program: string
  /** The file of deploy/ and its changes here; `whole` makes a complete configuration of it. */
  readonly file: string
  readonly changes: (folder: string, ports: Ports) => readonly (readonly [RegExp, string])[]
  readonly whole: (folder: string, text: string) => string
  readonly run: (folder: string, config: string) => readonly string[]
  readonly check: (folder: string, config: string) => readonly string[]
}

const nginx: Proxy = {
  program: 'nginx',
  file: 'nginx/posthorn.conf',
  changes: (folder, { http, https, service }) => [
    [/listen 80;/, `listen 127.0.0.1:${http};`],
    [/listen 443 /, `listen 127.0.0.1:${https} `],
    [/^ *listen \[::\].*\n/gm, ''],
    [/127\.0\.0\.1:8080/, service],
    [/\/etc\/ssl\/posthorn\/fullchain.pem/, `${folder}/certificate.pem`],
    [/\/etc\/ssl\/posthorn\/privkey.pem/, `${folder}/key.pem`],
  ],
  whole: (folder, text) => {
    const kept = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${folder}/${name};`)
      .join('\n')
    return `${process.getuid?.() === 0 ? 'user root;' : ''}\ndaemon off;\npid ${folder}/nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${kept}\n${text}\n}\n`
  },
  run: (folder, config) => ['-p', folder, '-e', 'stderr', '-c', config],
  check: (folder, config) => ['-p', folder, '-e', 'stderr', '-c', config, '-t', '-q'],
}

const caddy: Proxy = {
  program: 'caddy',
  file: 'caddy/Caddyfile',
  changes: (folder, { https, service }) => [
    [/^posthorn\.example\.com \{/m, `https://127.0.0.1:${https} {\n\ttls ${folder}/certificate.pem ${folder}/key.pem`],
    [/127\.0\.0\.1:8080/g, service],
  ],
  whole: (_folder, text) => `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${text}`,
  run: (_folder, config) => ['run', '--adapter', 'caddyfile', '--config', config],
  check: (_folder, config) => ['validate', '--adapter', 'caddyfile', '--config', config],
}

/** Starts the program with its file of deploy/; resolves to its https address. */
async function startProxy(t: TestContext, proxy: Proxy, service: string): Promise<{ https: string; http: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-proxy-'))
  closing(t, () => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'home'))
  writeFileSync(join(folder, 'certificate.pem'), certificate)
  writeFileSync(join(folder, 'key.pem'), certificateKey)
  const ports = { http: await ownPort(), https: await ownPort(), service }
  let text = readFileSync(join(deploy, proxy.file), 'utf8')
  for (const [from, to] of proxy.changes(folder, ports)) {
    assert.match(text, from)
    text = text.replace(from, to)
  }
  const config = join(folder, 'config')
  writeFileSync(config, proxy.whole(folder, text))
  const env = {
    PATH: `${process.env['PATH']}:/usr/sbin`,
    HOME: join(folder, 'home'),
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
  }
  const checked = spawnSync(proxy.program, proxy.check(folder, config), { env, encoding: 'utf8' })
  assert.equal(checked.status, 0, `${checked.stderr}${checked.error?.message ?? ''}`)
  const child = spawn(proxy.program, proxy.run(folder, config), { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  closing(t, async () => {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    if (child.exitCode === null && child.signalCode === null) await ended
  })
  const https = `https://127.0.0.1:${ports.https}`
  const client = from('127.0.0.2')
  closing(t, () => client.close())
  await until(
    `${proxy.program} to listen`,
    async () => ({
      status: await request(`${https}/llms.txt`, { dispatcher: client }).then(
        async ({ statusCode, body }) => (await body.dump(), statusCode),
        () => 0,
      ),
      exit: child.exitCode,
      errors,
    }),
    ({ status, exit }) => status === 200 || exit !== null,
  )
  return { https, http: `http://127.0.0.1:${ports.http}` }
}

const from = (localAddress: string) => new Agent({ localAddress, connect: { rejectUnauthorized: false } })

for (const proxy of [nginx, caddy])
  test(
    `${proxy.program} forwards public paths with the client's address`,
    { skip: without(proxy.program) },
    async (t) => {
      const world = await startWorld(t, { settings: { trusted_proxies: ['127.0.0.1'] } })
      const account = await world.account({ ip_allowlist: ['127.0.0.2'] })
      const owner = await signedInOwner(world)
      const { https, http } = await startProxy(t, proxy, new URL(world.base_url).host)
      const [friend, stranger] = [from('127.0.0.2'), from('127.0.0.3')]
      closing(t, () => Promise.all([friend.destroy(), stranger.destroy()]))
      const headers = { authorization: `Bearer ${account.key}` }
      const ask = async (path: string, options: Partial<Dispatcher.RequestOptions> = {}, dispatcher = friend) => {
        const { statusCode, body } = await request(`${https}${path}`, { dispatcher, ...options } as never)
        return { status: statusCode, text: await body.text() }
      }

      const inside = await Promise.all(
        ['/metrics', '/healthz', '/readyz', '/'].map(async (path) => (await ask(path)).status),
      )
      const outside = await Promise.all(
        ['/docs', '/docs/guides', '/docs/openapi.json', '/console', '/llms.txt'].map(
          async (path) => (await ask(path)).status,
        ),
      )
      assert.deepEqual([inside, outside], [Array(4).fill(404), Array(5).fill(200)])

      // the service sees the client's address and ignores a forged header
      const known = await ask('/v1/me', { headers })
      const forged = await ask('/v1/me', { headers: { ...headers, 'x-forwarded-for': '127.0.0.2' } }, stranger)
      assert.equal(known.status, 200, known.text)
      assert.deepEqual([forged.status, JSON.parse(forged.text).error.code], [403, 'ip_not_allowed'])

      const json = { ...headers, 'content-type': 'application/json' }
      // an event arrives while its stream is open
      const listening = await request(`${https}/console/api/stream?account=${owner.account!}&mode=test`, {
        dispatcher: friend,
        headers: { cookie: owner.cookie! },
      })
      let heard = ''
      void (async () => {
        for await (const chunk of listening.body) heard += String(chunk)
      })().catch(() => undefined)
      const sent = await ask('/v1/messages', {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ channel: 'ch_test_sms', to: '+15005550006', type: 'text', text: { body: 'Hi' } }),
      })
      const { id } = JSON.parse(sent.text) as { id: string }
      await world.settle()
      await until(
        'the event to be heard',
        async () => (await world.tick('console-streams'), heard),
        (text) => text.includes(id),
      )
      assert.equal(listening.statusCode, 200)

      if (proxy === nginx) {
        const redirected = await request(`${http}/docs?a=1`, {
          dispatcher: friend,
          headers: { host: 'posthorn.example.com' },
        })
        await within('the redirection', redirected.body.dump())
        assert.deepEqual(
          [redirected.statusCode, redirected.headers['location']],
          [308, 'https://posthorn.example.com/docs?a=1'],
        )
      }
    },
  )

const kindsOfPaths = (printed: string): string[] => [
  ...new Set([...printed.matchAll(/^[├└]── (\/[^/\s(]*)/gm)].map(([, kind]) => kind!)),
]

for (const proxy of [nginx, caddy])
  test(
    `every public path is answered through ${proxy.program} as by the service itself`,
    { skip: without(proxy.program) },
    async (t) => {
      const world = await startWorld(t, { settings: { trusted_proxies: ['127.0.0.1'] } })
      const { https } = await startProxy(t, proxy, new URL(world.base_url).host)
      const client = from('127.0.0.2')
      closing(t, () => client.destroy())
      const answer = async (base: string, method: string, path: string) => {
        const { statusCode, headers, body } = await request(`${base}${path}`, {
          method: method as 'GET',
          dispatcher: client,
        })
        const text = await body.text()
        return {
          status: statusCode,
          type: headers['content-type'],
          length: text.length,
          own: 'x-request-id' in headers,
        }
      }
      const inside = ['/', '/healthz', '/readyz', '/metrics']
      const kinds = kindsOfPaths(world.app.server.printRoutes({ commonPrefix: false }))
      const { text: page } = await request(`${world.base_url}/console`).then(async ({ body }) => ({
        text: await body.text(),
      }))
      const [asset] = /\/console\/assets\/[^"]+/.exec(page)!
      const paths = [
        ...[...world.app.routes, ...world.app.consoleRoutes].map(({ method, path }) => [
          method,
          path.replaceAll(/[{}]/g, ''),
        ]),
        ...world.app.routes.map(({ method, path }) => [method, `/console/api${path.replaceAll(/[{}]/g, '')}`]),
        ...[
          '/docs',
          '/docs/',
          '/docs/guides/sending',
          '/docs/openapi.json',
          '/llms.txt',
          '/console',
          '/console/a/b',
          asset,
          '/v1',
          '/media/x',
          '/hooks/none',
        ].map((path) => ['GET', path]),
        ...['/hooks/channels/x', '/hooks/payments/stripe'].map((path) => ['POST', path]),
      ].filter(([method, path]) => !(method === 'GET' && path === '/console/api/stream')) as [string, string][]

      const missed = kinds.filter(
        (kind) => !inside.includes(kind) && !paths.some(([, path]) => path === kind || path.startsWith(`${kind}/`)),
      )
      const different: object[] = []
      for (const [method, path] of paths) {
        const [own, passed] = await Promise.all([answer(world.base_url, method, path), answer(https, method, path)])
        if (!passed.own || own.status !== passed.status || own.type !== passed.type)
          different.push({ method, path, own, passed })
      }
      const outside = await Promise.all(inside.map((path) => answer(https, 'GET', path)))

      assert.deepEqual(missed, [])
      assert.deepEqual(different, [])
      assert.deepEqual(
        outside.map(({ status, own }) => [status, own]),
        inside.map(() => [404, false]),
      )
    },
  )

const megabyte = 1024 * 1024
const boundary = 'a-boundary'
const fileForm = (head: string, bytes: number, filename: string) => {
  const [before, after] = [
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${filename}"\r\ncontent-type: application/octet-stream\r\n\r\n`,
    `\r\n--${boundary}--\r\n`,
  ]
  return Buffer.concat([
    Buffer.from(before),
    Buffer.from(head, 'latin1'),
    Buffer.alloc(bytes - head.length),
    Buffer.from(after),
  ])
}

for (const proxy of [nginx, caddy])
  test(
    `bodies and files as large as the service accepts pass ${proxy.program}; larger ones get the refusal of the service`,
    { skip: without(proxy.program) },
    async (t) => {
      const world = await startWorld(t, {
        settings: { trusted_proxies: ['127.0.0.1'], import_bytes_max: 6 * megabyte },
      })
      const account = await world.account()
      const owner = await signedInOwner(world)
      const { https } = await startProxy(t, proxy, new URL(world.base_url).host)
      const client = from('127.0.0.2')
      closing(t, () => client.destroy())
      const send = async (
        path: string,
        type: string,
        body: string | Uint8Array,
        headers: Record<string, string> = {},
      ) => {
        const answer = await request(`${https}${path}`, {
          method: 'POST',
          dispatcher: client,
          headers: { authorization: `Bearer ${account.key}`, 'content-type': type, ...headers },
          body,
        })
        const text = await answer.body.text()
        assert.ok('x-request-id' in answer.headers, `${path}: ${answer.statusCode} ${text.slice(0, 200)}`)
        return { status: answer.statusCode, body: JSON.parse(text) }
      }
      const ofOwner = {
        cookie: owner.cookie!,
        'service-console': '1',
        'service-account': owner.account!,
        'service-mode': 'test',
        origin: world.platform.settings.base_url,
      }
      const text = (bytes: number) => JSON.stringify({ text: 'x'.repeat(bytes - '{"text":""}'.length) })
      const rows = (bytes: number) => `phone\n${'+4915112345678\n'.repeat(Math.floor((bytes - 6) / 15))}`
      const media = (bytes: number) =>
        send(
          '/console/api/media',
          `multipart/form-data; boundary=${boundary}`,
          fileForm('\x89PNG\r\n\x1a\n', bytes, 'a.png'),
          ofOwner,
        )

      const largest = await send('/v1/messages', 'application/json', text(limits.body_bytes))
      const larger = await send('/v1/messages', 'application/json', text(limits.body_bytes + 1))
      const callback = await send('/hooks/channels/ch_none', 'application/json', text(limits.callback_body_bytes))
      const imports = [
        await send('/v1/contact_imports?consent_declared=true', 'text/csv', rows(6 * megabyte)),
        await send('/console/api/imports', 'text/csv', rows(6 * megabyte), ofOwner),
        await send('/v1/contact_imports?consent_declared=true', 'text/csv', rows(7 * megabyte)),
      ]
      const uploads = [await media(25 * megabyte), await media(25 * megabyte + 1)]
      const address = new URL(uploads[0]!.body.url)
      const served = await request(`${https}${address.pathname}${address.search}`, { dispatcher: client })
      const bytes = (await served.body.bytes()).length

      assert.deepEqual([largest.status, larger.status, callback.status], [400, 413, 404])
      assert.deepEqual(
        imports.map(({ status, body }) => body.error?.code ?? status),
        [202, 201, 'payload_too_large'],
      )
      assert.deepEqual(
        uploads.map(({ status, body }) => body.error?.code ?? status),
        [201, 'payload_too_large'],
      )
      assert.deepEqual([served.statusCode, bytes], [200, 25 * megabyte])
    },
  )
