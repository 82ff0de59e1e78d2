#!/usr/bin/env node
/** `posthorn <command>`: the command line, on the pinned Node. */
import { join } from 'node:path'
import { root, runNode } from './toolchain.mjs'

await runNode([join(root, 'src', 'main.ts'), ...process.argv.slice(2)])
