/** `node scripts/test.mjs [files…]`: runs these test files, or all of them, on one throwaway PostgreSQL. */
import { join } from 'node:path'
import { prepareConsole, root, runNode } from './toolchain.mjs'

await prepareConsole()
await runNode([join(root, 'test', 'support', 'run.ts'), ...process.argv.slice(2)])
