/** `node hold-embedded.ts <folder>`: runs the embedded database until stopped. Prints address and pid. */
import { startEmbedded } from '../../src/platform/database/embedded.ts'
import { makeLog } from '../../src/platform/observability/log.ts'

const database = await startEmbedded({ dataDir: process.argv[2]!, log: makeLog('silent'), throwaway: true })
process.on('SIGTERM', () => void database.stop().then(() => process.exit(0)))
console.log(JSON.stringify({ url: database.url, pid: database.pid }))
process.stdin.resume()
