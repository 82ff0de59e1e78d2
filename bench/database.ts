/** The embedded database of a service, by what it leaves in its folder: another commit's is never opened as one's own, which might change whose it is. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../src/lib/clock.ts'
import { runningPostmaster, stopPostmaster } from '../src/platform/database/postmaster.ts'

const folderOf = (data_dir: string): string => join(data_dir, 'postgres')

/** Of a running service. */
export async function databaseOf(data_dir: string): Promise<{ url: string; pid: number }> {
  const running = await runningPostmaster(folderOf(data_dir))
  if (running === undefined) throw new Error(`no database runs in ${data_dir}`)
  const password = (await readFile(join(folderOf(data_dir), 'posthorn.password'), 'utf8')).trim()
  return { url: `postgres://posthorn:${password}@127.0.0.1:${running.port}/posthorn`, pid: running.pid }
}

/** Ends the database of a service that has ended, where it was killed and left it behind. */
export async function endDatabase(data_dir: string): Promise<void> {
  const left = await runningPostmaster(folderOf(data_dir))
  if (left !== undefined) await stopPostmaster(folderOf(data_dir), left.pid, systemClock())
}
