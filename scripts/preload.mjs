/** Loaded before the program. Keeps what was compiled once, and ends the program at once when the script that started it is gone. */
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// from here, so that the program's first file is among what is kept and the compiler of TypeScript need not be loaded
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)))

if (process.channel !== undefined && process.channel !== null) {
  process.once('disconnect', () => process.exit(137))
  process.channel.unref()
}
