/** Loaded before the program: enables the compile cache, and ends the program when its parent is gone. */
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// V8 compiles nextTick for the one kind of object that it sees here: 50 ns instead of 300 per call, seven times a
// request.
for (let i = 0; i < 2000; i++) process.nextTick(() => undefined)

// here, so that the program's first file is cached and the TypeScript compiler need not be loaded
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)))

if (process.channel !== undefined && process.channel !== null) {
  process.once('disconnect', () => process.exit(137))
  process.channel.unref()
}
