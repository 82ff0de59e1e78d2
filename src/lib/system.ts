/** Free ports, folders and limits of the operating system. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, resolve } from 'node:path'

const [lowest, highest] = [20_000, 32_767]
const triesMax = 100

/** The port is not reserved. Rejects when the host cannot be listened on. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (let tries = 0; tries < triesMax; tries++) {
    const port = randomInt(lowest, highest + 1)
    if (await isFree(host, port)) return port
  }
  throw new Error(`none of ${triesMax} ports from ${lowest} to ${highest} is free`)
}

/** Rejects when the host cannot be listened on. */
export async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer().listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    if (['EADDRINUSE', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
  server.close()
  await once(server, 'close')
  return true
}

/** Readable by this user only. Node's recursive `mkdir` never returns below a file system such as /proc. */
export async function makeFolder(path: string): Promise<void> {
  const folder = resolve(path)
  const made = await makeOne(folder)
  if (made === undefined) return
  if (made.code !== 'ENOENT' || dirname(folder) === folder) throw made
  await makeFolder(dirname(folder))
  const again = await makeOne(folder)
  if (again !== undefined) throw again
}

async function makeOne(folder: string): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(folder, { mode: 0o700 })
    return undefined
  } catch (error) {
    const failed = error as NodeJS.ErrnoException
    return failed.code === 'EEXIST' && (await stat(folder)).isDirectory() ? undefined : failed
  }
}

/** The soft limit, which Node raises to the hard limit at start. Infinity if unlimited. */
export function descriptorLimit(): number {
  try {
    return descriptorLimitIn(readFileSync('/proc/self/limits', 'utf8'))
  } catch {
    return limitInReport() // not Linux
  }
}

export function descriptorLimitIn(limits: string): number {
  return numberOf(/^Max open files +(\S+)/m.exec(limits)?.[1])
}

function limitInReport(): number {
  Object.assign(process.report, { excludeNetwork: true }) // the report would resolve host names
  const report = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: string | number } }
  }
  return numberOf(report.userLimits?.open_files?.soft)
}

const numberOf = (soft: string | number | undefined): number => (Number(soft) > 0 ? Number(soft) : Infinity)
