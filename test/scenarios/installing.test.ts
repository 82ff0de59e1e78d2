/** After an update of the checkout, its packages are installed before anything runs. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'

const wanted = {
  '': { name: 'posthorn' },
  'clients/typescript': { version: '1.0.0' },
  'node_modules/@posthorn/client': { resolved: 'clients/typescript', link: true },
  'node_modules/one': { version: '2.0.0' },
  'node_modules/other-platform': { version: '1.0.0', optional: true },
}

/** A checkout whose `npm ci` installs what the lock file names and counts its calls. */
async function checkout(t: TestContext, installed: object) {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-checkout-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const write = async (path: string, text: string) => {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), text, { mode: 0o755 })
  }
  for (const file of ['toolchain.mjs', 'build-console.mjs', 'node-flags.mjs'])
    await cp(join(import.meta.dirname, '../../scripts', file), join(folder, 'scripts', file))
  await write('package-lock.json', JSON.stringify({ packages: wanted }))
  await write('node_modules/.package-lock.json', JSON.stringify({ packages: installed }))
  await write('node_modules/node/bin/node', '')
  await write(
    'npm-cli.js',
    `const fs = require('node:fs')
     fs.appendFileSync('asked', 'x')
     fs.writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: { 'node_modules/one': { version: '2.0.0' } } }))`,
  )
  const prepare = () => {
    const script = `const { prepare } = await import(${JSON.stringify(join(folder, 'scripts/toolchain.mjs'))}); await prepare()`
    const env = { ...process.env, npm_execpath: join(folder, 'npm-cli.js') }
    assert.equal(
      spawnSync(process.execPath, ['--input-type=module', '-e', script], { env, timeout: 180_000 }).status,
      0,
    )
  }
  const asked = async () => (await readFile(join(folder, 'asked'), 'utf8').catch(() => '')).length
  return { prepare, asked }
}

test('packages of an older lock file are reinstalled once, whatever their timestamps', async (t) => {
  const { prepare, asked } = await checkout(t, { 'node_modules/one': { version: '1.0.0' } })

  prepare()
  prepare()

  assert.equal(await asked(), 1)
})

test('installed packages are left unchanged, whoever installed them', async (t) => {
  const { prepare, asked } = await checkout(t, { 'node_modules/one': { version: '2.0.0' } })

  prepare()

  assert.equal(await asked(), 0)
})
