/** A port of this machine that nothing listens on. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below those that systems give to outgoing connections: whoever comes back to the port after a restart finds it free. */
const [lowest, highest] = [20_000, 32_767]
const triesMax = 100

/** Free when this resolves; nothing keeps it for the caller. Rejects when the host is none to listen on. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (let tries = 0; tries < triesMax; tries++) {
    const port = randomInt(lowest, highest + 1)
    if (await isFree(host, port)) return port
  }
  throw new Error(`none of ${triesMax} ports from ${lowest} to ${highest} is free`)
}

/** Whether nothing listens there. Rejects when the host is none to listen on. */
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
