/** Runs the built program on the package's own Node, or on the machine's if that is missing and compatible. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodeFlags } from './node-flags.mjs'

const folder = join(dirname(fileURLToPath(import.meta.url)), '..')
const isWindows = process.platform === 'win32'
const [wantedMajor, wantedMinor] = [24, 7]

/** The install script of the package `node` may be disabled. */
function ownNode() {
  try {
    const program = join(
      dirname(createRequire(import.meta.url).resolve('node/package.json')),
      'bin',
      isWindows ? 'node.exe' : 'node',
    )
    return existsSync(program) ? program : undefined
  } catch {
    return undefined
  }
}

function machineNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  return major === wantedMajor && minor >= wantedMinor ? process.execPath : undefined
}

function start(node) {
  const args = [...nodeFlags, join(folder, 'src', 'main.js'), ...process.argv.slice(2)]
  if (!isWindows) process.execve(node, [node, ...args], process.env)
  const child = spawn(node, args, { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.once('error', (error) => fail(`${node} does not run: ${error.message}`))
  child.once('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

function fail(sentence) {
  console.error(`posthorn: ${sentence}`)
  process.exit(1)
}

const node = ownNode() ?? machineNode()
if (node !== undefined) start(node)
else {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  fail(
    `posthorn ${version} runs on Node ${wantedMajor}.${wantedMinor} or a later ${wantedMajor}, and the one that it brings with it was not installed. Install it anew with install scripts allowed, or with Node ${wantedMajor}.`,
  )
}
