/** The TypeScript samples of the reference and the guides compile with the installed client. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { codeSamples } from '../../src/docs/code-samples.ts'
import { siteOf } from '../../src/docs/site.ts'
import { installClient } from '../support/client-package.ts'
import { blocksOf } from '../support/pages/blocks.ts'
import { startWorld } from '../support/world.ts'

const root = join(import.meta.dirname, '../..')
const { folder } = await installClient()
after(() => rm(join(folder, '..'), { recursive: true, force: true }))

async function errorsOf(programs: ReadonlyMap<string, string>): Promise<string[]> {
  await mkdir(join(folder, 'programs'), { recursive: true })
  for (const [name, text] of programs) await writeFile(join(folder, 'programs', `${name}.ts`), text)
  const types = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node']
  const options = [
    '--noEmit',
    '--strict',
    '--exactOptionalPropertyTypes',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    ...types,
  ]
  const files = [...programs.keys()].map((name) => join(folder, 'programs', `${name}.ts`))
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), [...options, ...files], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 120_000,
  })
  await rm(join(folder, 'programs'), { recursive: true })
  return stdout.split('\n').filter((line) => line.includes('error TS'))
}

test('every sample of the reference compiles', async (t) => {
  const { routes } = (await startWorld(t)).app
  const site = siteOf(routes, 'http://127.0.0.1:8080')
  const samples = routes.flatMap((route) =>
    codeSamples(site, route).flatMap(({ language, text }) =>
      language === 'typescript' ? [[route.operation, text] as const] : [],
    ),
  )

  assert.ok(samples.length > 80, `${samples.length} samples`)
  assert.deepEqual(await errorsOf(new Map(samples)), [])
})

test('a sample that does not match the client is reported', async () => {
  const [error, ...more] = await errorsOf(
    new Map([
      [
        'wrong',
        `import { Posthorn } from '@posthorn/client'\nawait new Posthorn({ apiKey: 'x', baseUrl: 'x' }).messages.sent({})`,
      ],
    ]),
  )

  assert.match(error!, /wrong\.ts\(2,.*Property 'sent' does not exist/)
  assert.deepEqual(more, [])
})

test('every program of the guides that uses the client compiles', async () => {
  const guides = join(root, 'docs/guides')
  const names = (await readdir(guides)).filter((name) => name.endsWith('.md'))
  const pages = await Promise.all(
    names.map(async (name) => [name, await readFile(join(guides, name), 'utf8')] as const),
  )
  const programs = pages.flatMap(([name, text]) =>
    blocksOf(text).flatMap((block) =>
      block.language === 'ts' && block.text.includes('@posthorn/client')
        ? [[`${name}-${block.line}`, block.text] as const]
        : [],
    ),
  )

  assert.ok(programs.length >= 2, `${programs.length} programs`)
  assert.deepEqual(await errorsOf(new Map(programs)), [])
})
