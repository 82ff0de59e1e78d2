/** The embedded database of a service, found by its files. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../src/lib/clock.ts'
import { runningPostmaster, stopPostmaster } from '../src/platform/database/postmaster.ts'

const folderOf = (data_dir: string): string => join(data_dir, 'postgres')

export async function databaseOf(data_dir: string): Promise<{ url: string; pid: number }> {
  const running = await runningPostmaster(folderOf(data_dir))
  if (running === undefined) throw new Error(`no database runs in ${data_dir}`)
  const password = (await readFile(join(folderOf(data_dir), 'posthorn.password'), 'utf8')).trim()
  return { url: `postgres://posthorn:${password}@127.0.0.1:${running.port}/posthorn`, pid: running.pid }
}

export async function endDatabase(data_dir: string): Promise<void> {
  const left = await runningPostmaster(folderOf(data_dir))
  if (left !== undefined) await stopPostmaster(folderOf(data_dir), left.pid, systemClock())
}
