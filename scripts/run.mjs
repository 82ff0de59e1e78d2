/** `node scripts/run.mjs <file.ts> [arguments…]`: runs a TypeScript file on the pinned Node. */
import { runNode } from './toolchain.mjs'

if (process.argv[2] === undefined) {
  console.error('usage: node scripts/run.mjs <file.ts> [arguments…]')
  process.exit(2)
}
await runNode(process.argv.slice(2))
