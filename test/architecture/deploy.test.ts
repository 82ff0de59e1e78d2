/** Deployment files name existing settings, commands, roles, ports, folders and users. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { Command } from 'commander'
import { validate } from 'dockerfile-utils'
import { CORE_SCHEMA, load, loadAll, mergeTag } from 'js-yaml'
import { groups } from '../../src/cli/groups.ts'
import { readConfig, settingRows } from '../../src/config/config.ts'
import { limits } from '../../src/api/limits.ts'
import { everyRoute } from '../../src/openapi.ts'
import { roles } from '../../src/platform/platform.ts'
import { dockerContext, imageOf, instructionsOf } from '../support/dockerfile.ts'
import { root } from './sources.ts'

const textOf = (path: string) => readFileSync(join(root, path), 'utf8')
const deployed = [
  'Dockerfile',
  'compose.yaml',
  ...globSync('deploy/{systemd,nginx,caddy,kubernetes}/*', { cwd: root }),
].map((path) => ({
  path,
  text: textOf(path),
}))
const dockerfile = instructionsOf(textOf('Dockerfile'))
const last = (name: string) => dockerfile.findLast((each) => each.name === name)!.value
const image = imageOf()
const secret_key = Buffer.alloc(32, 7).toString('base64')

const compose = load(textOf('compose.yaml'), { schema: CORE_SCHEMA.withTags(mergeTag) }) as {
  services: Record<string, ComposeService>
  volumes: Record<string, unknown>
}
interface ComposeService {
  readonly image: string
  readonly command?: string[]
  readonly environment?: Record<string, string>
  readonly volumes?: string[]
  readonly ports?: string[]
  readonly depends_on?: object
}
const ofPosthorn = Object.values(compose.services).filter(({ image }) => image === 'posthorn')

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly data?: Record<string, string>
  readonly spec?: {
    readonly selector?: { readonly matchLabels?: Labels }
    readonly template?: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec }
  }
}
type Labels = Record<string, string>
interface PodSpec {
  readonly enableServiceLinks: boolean
  readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number }
  readonly containers: readonly {
    readonly image: string
    readonly args: string[]
    readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
    readonly volumeMounts: readonly { readonly mountPath: string }[]
    readonly [probe: string]: unknown
  }[]
}
const manifests = globSync('deploy/kubernetes/*.yaml', { cwd: root })
  .filter((path) => !path.endsWith('kustomization.yaml'))
  .flatMap((path) => loadAll(textOf(path)) as Manifest[])
const pods = manifests.flatMap(({ spec }) => (spec?.template === undefined ? [] : [spec.template]))
const containers = pods.flatMap(({ spec }) => spec.containers)
const unit = textOf('deploy/systemd/posthorn.service')

test('every setting in deployment files exists', () => {
  const known = settingRows().map((row) => /`(\w+)`/.exec(row)![1]!)
  const wrong = deployed.flatMap(({ path, text }) =>
    [...text.replaceAll(/\bPOSTHORN_(?= and are no settings)/g, '').matchAll(/\bPOSTHORN_\w+/g)]
      .filter(([name]) => !known.includes(name))
      .map(([name]) => `${path}: ${name}`),
  )

  assert.deepEqual(wrong, [])
})

test('every environment in deployment files is accepted by the service', () => {
  const given = (text: string) =>
    text.replace(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, kind: string, fallback: string) =>
      kind === '-' ? fallback : name === 'POSTHORN_SECRET_KEY' ? secret_key : 'secret',
    )
  const lines = (text: string) =>
    Object.fromEntries(
      [...text.matchAll(/^#?([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [
        name!,
        name === 'POSTHORN_SECRET_KEY' ? secret_key : value!,
      ]),
    )
  const environments = [
    image.env,
    ...ofPosthorn.map(({ environment = {} }) =>
      Object.fromEntries(Object.entries({ ...image.env, ...environment }).map(([name, value]) => [name, given(value)])),
    ),
    lines(textOf('deploy/systemd/posthorn.env')),
    ...manifests.flatMap(({ data }) =>
      data === undefined
        ? []
        : [{ ...image.env, ...data, POSTHORN_MEDIA_S3_KEY_ID: 'id', POSTHORN_MEDIA_S3_SECRET: 'secret' }],
    ),
  ]
  const known = [...settingRows().map((row) => /`(\w+)`/.exec(row)![1]!), 'NODE_ENV']

  assert.deepEqual([environments.length, ofPosthorn.length], [6, 3])
  for (const environment of environments) readConfig(environment)
  assert.deepEqual(
    environments.flatMap((each) => Object.keys(each)).filter((name) => !known.includes(name)),
    [],
  )
})

test('every command in deployment files exists, with its options and roles', () => {
  const program = new Command('posthorn')
  for (const register of groups) register(program, undefined as never)
  const [, executed] = /^ExecStart=posthorn (.*)$/m.exec(unit)!
  const commands = [
    image.command,
    executed!.split(' '),
    ...ofPosthorn.map(({ command }) => command!),
    ...containers.map(({ args }) => args),
  ]
  const wrong = commands.filter(([name, ...words]) => {
    const command = program.commands.find((each) => each.name() === name)
    return (
      command === undefined ||
      words.some((word, at) =>
        word.startsWith('--')
          ? !command.options.some(({ long }) => long === word)
          : words[at - 1] !== '--roles' || !roles.includes(word as 'api'),
      )
    )
  })

  assert.equal(commands.length, 8)
  assert.deepEqual(wrong, [])
})

test('ports, folders, users and images are the same everywhere', () => {
  const mounts = [
    ...ofPosthorn.flatMap(({ volumes = [] }) => volumes.map((volume) => volume.split(':')[1])),
    ...containers.flatMap(({ volumeMounts }) => volumeMounts.map((mount) => mount.mountPath)),
  ]
  const ports = [
    last('EXPOSE'),
    ...ofPosthorn.flatMap(({ ports = [] }) => ports.map((port) => port.split(':').at(-1)!)),
    ...containers.flatMap(({ ports = [] }) => ports.map(({ containerPort }) => String(containerPort))),
  ]
  const users = [
    image.user,
    ...pods.map(({ spec: { securityContext } }) => `${securityContext.runAsUser}:${securityContext.runAsGroup}`),
  ]

  assert.deepEqual([...new Set([...mounts, last('VOLUME')])], [image.env['POSTHORN_DATA_DIR']])
  assert.deepEqual([...new Set(ports)], [image.env['PORT']])
  assert.deepEqual([...new Set(users)], ['1000:1000'])
  assert.deepEqual([...new Set(containers.map(({ image }) => image))], ['posthorn'])
  assert.equal(readConfig({}).port, Number(image.env['PORT']))
})

test('the image uses existing stages, files and programs', () => {
  const stages = dockerfile
    .filter(({ name }) => name === 'FROM')
    .map(({ value }) => /^\S+(?: AS (\w+))?$/.exec(value)![1])
  const context = dockerContext()
  const copied = dockerfile
    .filter(({ name, value }) => name === 'COPY' && !value.startsWith('--from='))
    .flatMap(({ value }) => value.split(/\s+/).slice(0, -1))
  const others = dockerfile.flatMap(({ name, value }) =>
    name === 'COPY' ? ([/^--from=(\w+)/.exec(value)?.[1]].filter(Boolean) as string[]) : [],
  )

  assert.deepEqual(validate(textOf('Dockerfile')), [])
  assert.deepEqual(
    copied.filter((path) => path !== '.' && !context.some((file) => file === path || file.startsWith(`${path}/`))),
    [],
  )
  assert.deepEqual(
    others.filter((stage) => !stages.includes(stage)),
    [],
  )
  assert.deepEqual(
    [image.entrypoint[1], image.command, image.healthcheck[0]],
    ['/app/bin/posthorn.cjs', ['serve'], 'node'],
  )
  assert.deepEqual(
    context.filter((path) => /^(?:test|bench|data|\.git)\/|node_modules|^console\/dist|\.env$/.test(path)),
    [],
  )
})

test('a build stage installs optional packages, which contain native bindings', () => {
  const stages = textOf('Dockerfile')
    .split(/^FROM /m)
    .slice(1)
  const builders = stages.filter((stage) => /^RUN npm run /m.test(stage))

  assert.equal(builders.length, 1)
  assert.deepEqual(
    builders.filter((stage) => /^RUN npm ci.*(--omit[= ]optional|--no-optional|--ignore-scripts)/m.test(stage)),
    [],
  )
})

test('proxies let every body pass that an operation accepts', () => {
  const largest = Math.max(
    limits.callback_body_bytes,
    ...[...everyRoute().routes, ...everyRoute().consoleRoutes].map(
      ({ body_bytes_max = limits.body_bytes }) => body_bytes_max,
    ),
  )
  const [, nginx] = /^ {2}client_max_body_size (\d+)m;$/m.exec(textOf('deploy/nginx/posthorn.conf'))!
  const [, caddy] = /max_size (\d+)MiB/.exec(textOf('deploy/caddy/Caddyfile'))!

  assert.ok(Number(nginx) * 1024 ** 2 > largest, `nginx: ${nginx} MB, the service: ${largest} bytes`)
  assert.ok(Number(caddy) * 1024 ** 2 > largest, `Caddy: ${caddy} MB, the service: ${largest} bytes`)
})

test('the systemd unit finds the program wherever npm installs it', () => {
  assert.match(textOf('deploy/systemd/posthorn.service'), /^ExecStart=[^/\s]+ /m)
})

test('the package can be published: it is not marked private', () => {
  assert.equal((JSON.parse(textOf('package.json')) as { private?: boolean }).private, undefined)
})

test('the compose file defines everything it uses', () => {
  const { services, volumes } = compose
  const named = Object.values(services).flatMap((service) =>
    (service.volumes ?? []).map((volume) => volume.split(':')[0]!),
  )
  const awaited = Object.values(services).flatMap((service) => Object.keys(service.depends_on ?? {}))

  assert.deepEqual([...new Set(named)].toSorted(), Object.keys(volumes).toSorted())
  assert.deepEqual(
    awaited.filter((name) => !(name in services)),
    [],
  )
  assert.deepEqual(
    ofPosthorn
      .flatMap(({ environment }) =>
        ['DATABASE_URL', 'REDIS_URL'].map(
          (name) => new URL(environment![name]!.replaceAll(/\$\{[^}]*\}/g, 'x')).hostname,
        ),
      )
      .filter((host) => !(host in services)),
    [],
  )
})

test('manifests are consistent: labels, probe ports, and no service variables that prevent the start', () => {
  const labels = pods.map(({ metadata }) => JSON.stringify(metadata.labels))
  const selectors = manifests.flatMap(({ spec }) =>
    spec?.selector?.matchLabels === undefined ? [] : [JSON.stringify(spec.selector.matchLabels)],
  )
  const probes = containers.flatMap((each) =>
    ['startupProbe', 'livenessProbe', 'readinessProbe'].flatMap((name) =>
      each[name] === undefined ? [] : [each[name] as { httpGet: { path: string; port: string } }],
    ),
  )

  assert.deepEqual(
    selectors.filter((selector) => !labels.includes(selector)),
    [],
  )
  assert.deepEqual(probes.map(({ httpGet }) => `${httpGet.port} ${httpGet.path}`).toSorted(), [
    'http /healthz',
    'http /healthz',
    'http /healthz',
    'http /healthz',
    'http /readyz',
    'http /readyz',
  ])
  assert.ok(containers.every(({ ports }) => ports === undefined || ports.some(({ name }) => name === 'http')))
  assert.deepEqual(
    pods.map(({ spec }) => spec.enableServiceLinks),
    pods.map(() => false),
  )
})

test("manifests match Kubernetes' own types", (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-manifests-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const typed = manifests.map((manifest, at) => {
    const group = manifest.apiVersion === 'v1' ? 'core/v1' : manifest.apiVersion.replace('.k8s.io', '')
    return `export const m${at}: import('kubernetes-types/${group}.d.ts').${manifest.kind} = ${JSON.stringify(manifest, null, 1)}`
  })
  writeFileSync(join(folder, 'right.mts'), typed.join('\n'))
  writeFileSync(join(folder, 'wrong.mts'), typed.join('\n').replace('"readinessProbe"', '"readynessProbe"'))
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', '']
  const { stdout } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), ...options, 'right.mts', 'wrong.mts'],
    { cwd: folder, encoding: 'utf8' },
  )

  assert.doesNotMatch(stdout, /right\.mts/)
  assert.match(stdout, /wrong\.mts.*readynessProbe/s)
})

const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

test('kubectl combines the manifests', { skip: !has('kubectl') && 'needs kubectl' }, () => {
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', join(root, 'deploy/kubernetes')], {
    encoding: 'utf8',
  })

  assert.equal(status, 0, stderr)
  assert.equal((loadAll(stdout) as unknown[]).length, manifests.length)
  assert.match(stdout, /image: posthorn:latest/)
})

test(
  'systemd accepts the unit, with a low exposure score',
  { skip: !has('systemd-analyze') && 'needs systemd-analyze' },
  (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'posthorn-unit-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'posthorn.service')
    const analyze = (text: string, ...words: string[]) => {
      writeFileSync(file, text)
      const { status, stdout, stderr } = spawnSync('systemd-analyze', [...words, file], { encoding: 'utf8' })
      return { status, said: stderr + (status === 0 ? '' : stdout) }
    }
    const here = unit.replace('ExecStart=posthorn', `ExecStart=${process.execPath}`)

    assert.deepEqual(analyze(here, 'verify'), { status: 0, said: '' })
    assert.match(
      analyze(here.replace('ProtectSystem=strict', 'ProtectSystem=strictly'), 'verify').said,
      /protect system/,
    )
    assert.equal(analyze(here, 'security', '--offline=true', '--threshold=20').status, 0)
    assert.ok(
      existsSync(join(root, 'deploy/systemd/posthorn.sysusers.conf')) &&
        /^User=posthorn$/m.test(unit) &&
        /^u posthorn /m.test(textOf('deploy/systemd/posthorn.sysusers.conf')),
    )
  },
)
