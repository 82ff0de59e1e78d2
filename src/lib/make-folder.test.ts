import assert from 'node:assert/strict'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { makeFolder } from './make-folder.ts'

test("a folder is made with those above it, its user's alone, by several at once too, and one that is there is left alone", async (t) => {
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

test('a folder that cannot be made is refused at once, under a file system that makes none too', async (t) => {
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
