/** A checkout of the product: this one or another commit, used only through its processes. */
import { execFile, execFileSync } from 'node:child_process'
import { chmod, mkdtemp, rm, stat, symlink, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const commandBytesMax = 16 * 1024 * 1024
const installWithinMs = 300_000
const commandWithinMs = 60_000

export interface Checkout {
  readonly root: string
  readonly name: string
}

export const thisCheckout: Checkout = { root: join(import.meta.dirname, '..'), name: 'this checkout' }

export const commandLine = ({ root }: Checkout): string => join(root, 'scripts', 'posthorn.mjs')

/** Runs `posthorn … --json` and resolves to its output. Rejects with its error text. */
export async function posthorn(
  checkout: Checkout,
  env: NodeJS.ProcessEnv,
  args: readonly string[],
  timeout = commandWithinMs,
): Promise<unknown> {
  const { stdout } = await run(process.execPath, [commandLine(checkout), ...args, '--json'], {
    env,
    cwd: checkout.root,
    timeout,
    maxBuffer: commandBytesMax,
  })
  return JSON.parse(stdout)
}

export interface CommitCheckout extends Checkout, AsyncDisposable {
  readonly commit: string
  readonly subject: string
}

/** Checks a commit out into a temporary folder with its dependencies; disposing removes the folder. */
export async function checkOut(revision: string): Promise<CommitCheckout> {
  const commit = (await git('rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`)).trim()
  const name = (await git('rev-parse', '--short', commit)).trim()
  const subject = (await git('log', '-1', '--format=%s', commit)).trim()
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-bench-against-'))
  // readable for the database user
  await chmod(folder, 0o755)
  const root = join(folder, 'checkout')
  const remove = () => {
    try {
      execFileSync('git', ['worktree', 'remove', '--force', root], { cwd: thisCheckout.root, stdio: 'ignore' })
    } catch {
      // already removed
    }
  }
  // removes the worktree from the repository's list
  process.once('exit', remove)
  const checkout: CommitCheckout = {
    root,
    name,
    commit,
    subject,
    async [Symbol.asyncDispose]() {
      process.off('exit', remove)
      remove()
      await rm(folder, { recursive: true, force: true })
    },
  }
  try {
    await git('worktree', 'add', '--detach', root, commit)
    if (await hasSameDependencies(commit)) await shareDependencies(root)
    // installs what is missing
    await posthorn(checkout, process.env, ['--version'], installWithinMs)
  } catch (error) {
    await checkout[Symbol.asyncDispose]()
    throw error
  }
  return checkout
}

async function git(...args: string[]): Promise<string> {
  const { stdout } = await run('git', args, { cwd: thisCheckout.root, maxBuffer: commandBytesMax })
  return stdout
}

const hasSameDependencies = (commit: string): Promise<boolean> =>
  git('diff', '--quiet', commit, '--', 'package-lock.json', '.npmrc').then(
    () => true,
    () => false,
  )

/** Keeps the lock file's time: modules count as installed if not older. */
async function shareDependencies(root: string): Promise<void> {
  await symlink(join(thisCheckout.root, 'node_modules'), join(root, 'node_modules'), 'dir')
  const { atime, mtime } = await stat(join(thisCheckout.root, 'package-lock.json'))
  await utimes(join(root, 'package-lock.json'), atime, mtime)
}
