/** Prepares the checkout and runs the pinned Node. Plain JavaScript, for any Node from 20. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { buildConsole } from './build-console.mjs'
import { nodeFlags } from './node-flags.mjs'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')

const modules = join(root, 'node_modules')
const pinnedNode = join(modules, 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
const installLock = join(root, '.install.lock')
const consoleLock = join(root, '.console.lock')
const watchParentMs = 250
const stopWithinMs = 10_000

/** Resolves to the path of the pinned Node. Ends the process with one sentence on failure. */
export async function prepare() {
  if (!isInstalled()) await install()
  if (!existsSync(pinnedNode)) fetchNode()
  return pinnedNode
}

/** Also builds the console; a failed build does not prevent the start. */
export async function prepareConsole() {
  return await buildConsole(root, await prepare(), () => lockFolder(consoleLock))
}

/** Replaces this process: same streams, signals and exit code. */
export async function runNode(args, env = process.env) {
  const node = await prepare()
  // the child watches this process, because it would otherwise keep the port after a SIGKILL
  const child = spawn(node, [...nodeFlags, ...args], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env })
  const pass = (signal) => process.on(signal, () => child.kill(signal))
  pass('SIGTERM')
  pass('SIGHUP')
  // a terminal sends its interrupt to the whole group
  if (process.stdin.isTTY) process.on('SIGINT', () => undefined)
  else pass('SIGINT')
  if (process.env.npm_lifecycle_event !== undefined) followNpm(child)
  const code = await new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(`${node} does not run: ${error.message}`)
      resolve(1)
    })
    child.once('exit', (exit, signal) => resolve(exit ?? 128 + constants.signals[signal]))
  })
  process.exit(code)
}

/** npm started this process; if npm is killed, only its child can notice. */
function followNpm(child) {
  const npmPid = pidOfNpm()
  const watch = setInterval(() => {
    if (isAlive(npmPid)) return
    clearInterval(watch)
    child.kill('SIGTERM')
    setTimeout(() => child.kill('SIGKILL'), stopWithinMs).unref()
  }, watchParentMs)
  watch.unref()
}

/** Skips a shell in between. */
function pidOfNpm() {
  const text =
    fromProc(process.ppid) ??
    spawnSync('ps', ['-o', 'ppid=,args=', '-p', String(process.ppid)], { encoding: 'utf8' }).stdout ??
    ''
  const [, parent, args] = /^\s*(\d+)\s+(.*)/.exec(text) ?? []
  return parent !== undefined && parent !== '1' && /^\S*sh -c /.test(args) ? Number(parent) : process.ppid
}

/** Not every machine has `ps`. */
function fromProc(pid) {
  try {
    const parent = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]
    return `${parent} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`
  } catch {
    return undefined
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** In the version of the lock file. Packages for other platforms and clients may be missing. */
function isInstalled() {
  const installed = packagesOf(join(modules, '.package-lock.json'))
  return Object.entries(packagesOf(join(root, 'package-lock.json'))).every(
    ([path, { version, optional }]) =>
      !path.startsWith('node_modules/') ||
      installed[path]?.version === version ||
      (optional && installed[path] === undefined),
  )
}

const packagesOf = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : {})

/** Concurrent starts would remove each other's files. */
async function install() {
  const unlock = await lockFolder(installLock)
  try {
    if (isInstalled()) return
    console.error('posthorn: installing dependencies (npm ci), once ...')
    const { command, args } = npm()
    const done = spawnSync(
      command,
      [...args, 'ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'],
      {
        cwd: root,
        stdio: ['ignore', 2, 2],
        shell: process.platform === 'win32',
      },
    )
    if (done.status !== 0)
      fail('npm ci failed (see above). With the network back, run it in this folder, then try again.')
  } finally {
    unlock()
  }
}

/** Resolves to the release. */
async function lockFolder(lock) {
  for (;;) {
    try {
      mkdirSync(lock)
      writeFileSync(join(lock, 'pid'), String(process.pid))
      return () => rmSync(lock, { recursive: true, force: true })
    } catch (error) {
      if (error.code !== 'EEXIST')
        fail(`The checkout cannot be written (${error.message}): run \`npm ci\` in ${root} as its owner.`)
      if (isAbandoned(lock)) rmSync(lock, { recursive: true, force: true })
      await delay(100)
    }
  }
}

function isAbandoned(lock) {
  try {
    return !isAlive(Number(readFileSync(join(lock, 'pid'), 'utf8')))
  } catch {
    // the owner has just created it, or died before writing its pid
    return Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0) > 5000
  }
}

function npm() {
  const started = process.env.npm_execpath
  if (started !== undefined && /npm-cli\.c?js$/.test(started)) return { command: process.execPath, args: [started] }
  return { command: process.platform === 'win32' ? 'npm.cmd' : 'npm', args: [] }
}

/** The install script of the package `node` may be disabled, so it is run here. */
function fetchNode() {
  const folder = join(modules, 'node')
  if (existsSync(join(folder, 'installArchSpecificPackage.js'))) {
    console.error('posthorn: fetching the pinned Node, once ...')
    spawnSync(process.execPath, ['installArchSpecificPackage.js'], { cwd: folder, stdio: ['ignore', 2, 2] })
  }
  if (!existsSync(pinnedNode))
    fail(`The pinned Node is missing. Run \`npm rebuild node --ignore-scripts=false\` in ${root}, then try again.`)
}

function fail(sentence) {
  console.error(`posthorn: ${sentence}`)
  rmSync(installLock, { recursive: true, force: true })
  process.exit(1)
}
