import { once } from 'node:events'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { descriptorLimit, descriptorLimitIn, freePort, makeFolder } from './system.ts'
import { within } from '../../test/support/waiting.ts'
import assert from 'node:assert/strict'
import test from 'node:test'

test('a free port can be listened on and is outside of the ephemeral range', async (t) => {
  const port = await freePort()
  const server = createServer().listen(port, '127.0.0.1')
  t.after(() => server.close())

  await within('the server to listen', once(server, 'listening'))

  assert.ok(port < 32_768)
})

test('a host of another machine is refused', async () => {
  await assert.rejects(freePort('203.0.113.1'), { code: 'EADDRNOTAVAIL' })
})

test('a folder is created with its parents, private to its user, also concurrently; an existing one is left alone', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'posthorn-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  const deep = join(root, 'a', 'b', 'c')

  await Promise.all(Array.from({ length: 8 }, () => makeFolder(deep)))
  await makeFolder(deep)

  const made = [join(root, 'a'), join(root, 'a', 'b'), deep]
  assert.deepEqual(
    await Promise.all(made.map(async (folder) => (await stat(folder)).mode & 0o777)),
    [0o700, 0o700, 0o700],
  )
})

test('a folder that cannot be created fails at once, also under /proc', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'posthorn-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  const file = join(root, 'file')
  await writeFile(file, '')

  await assert.rejects(makeFolder(file), { code: 'EEXIST' })
  await assert.rejects(makeFolder(join(file, 'below')), { code: 'ENOTDIR' })
  if (process.platform === 'linux') {
    await assert.rejects(makeFolder('/proc/posthorn'), { code: 'ENOENT' })
    await assert.rejects(makeFolder('/proc/posthorn/data'), { code: 'ENOENT' })
  }
})

test('the open-file limit is the soft one, or infinite', () => {
  const limits = (files: string) =>
    `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${files}    files\nMax locked memory  8 8 bytes\n`

  assert.equal(descriptorLimitIn(limits('1024                 4096')), 1024)
  assert.equal(descriptorLimitIn(limits('unlimited            unlimited')), Infinity)
  assert.equal(descriptorLimitIn('nothing of the kind'), Infinity)
  assert.ok(descriptorLimit() > 16)
})
