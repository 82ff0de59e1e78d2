/** Makes a folder and those above it. Node's own way of doing that never ends under a file system that makes none, such as /proc. */
import { mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** Does nothing where the folder is there; what is made is its user's alone. Rejects with the error of the first folder that cannot be made. */
export async function makeFolder(path: string): Promise<void> {
  const folder = resolve(path)
  const made = await makeOne(folder)
  if (made === undefined) return
  if (made.code !== 'ENOENT' || dirname(folder) === folder) throw made
  await makeFolder(dirname(folder))
  const again = await makeOne(folder)
  if (again !== undefined) throw again
}

/** The error, where the folder is not there afterwards. */
async function makeOne(folder: string): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(folder, { mode: 0o700 })
    return undefined
  } catch (error) {
    const failed = error as NodeJS.ErrnoException
    return failed.code === 'EEXIST' && (await stat(folder)).isDirectory() ? undefined : failed
  }
}
