#!/usr/bin/env node
/** `posthorn <command>`: the command line, on the pinned Node. */
import { join } from 'node:path'
import { prepareConsole, root, runNode } from './toolchain.mjs'

if (process.argv.slice(2).includes('serve')) await prepareConsole()
await runNode([join(root, 'src', 'main.ts'), ...process.argv.slice(2)])
