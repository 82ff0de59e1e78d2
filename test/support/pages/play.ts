/** Runs the commands of a markdown page and compares their output with the page. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { clientSource, installedClient } from '../client-package.ts'
import { closing } from '../closing.ts'
import { ownPort } from '../own-port.ts'
import { until, within } from '../waiting.ts'
import { startWorld, testSecretKeys, type TestAccount, type World } from '../world.ts'
import { differenceOf, excerptDifference } from './answers.ts'
import { blocksOf, type Block } from './blocks.ts'
import { commandLine, npmSettings } from './command-line.ts'

const shownAddress = 'http://127.0.0.1:8080'
const shownPort = /\b3000\b/g

const root = join(import.meta.dirname, '../../..')
const answers = ['json', 'http', 'text', 'csv', '']
/** The id or secret printed last replaces it. */
const placeholder = /\b([a-z]+(?:_[a-z]+)?)_…/g
const idOrSecret = /\b(?:svc_(?:live|test|src)|whsec|[a-z]{2,5})_[A-Za-z0-9+/]{20,}=*/g

export interface Played {
  readonly world: World
  readonly account: TestAccount
  readonly folder: string
}

/** Throws at the first failure or difference. Sets `BASE`, `KEY` and `LIVE_KEY`. */
export async function playPage(t: TestContext, markdown: string): Promise<Played> {
  const [port, own] = [await ownPort(), await ownPort()]
  const addresses = {
    base_url: `http://127.0.0.1:${port}`,
    webhook_allowed_hosts: [`127.0.0.1:${own}`, `localhost:${own}`],
  }
  const world = await startWorld(t, { port, settings: { ...asByDefault, ...addresses } })
  // signatures of commands use the machine's time
  world.clock.jump(Date.parse((await world.api().get('/healthz')).headers['date']!) - world.clock.now())
  const account = await world.account()
  const { key: live_key } = await world.services.accounts.createKey({ account_id: account.id, mode: 'live' })
  const player = await startPlayer(t, { world, account, live_key, port: String(own) })
  if (markdown.includes('npm pack ./clients/typescript')) await clientSource(join(player.folder, 'clients/typescript'))
  else if (markdown.includes(`from '@posthorn/client'`))
    await cp(await installedClient(), player.folder, { recursive: true })
  for (const block of blocksOf(markdown)) {
    const difference = await player.play(block)
    if (difference !== undefined) throw new Error(`line ${block.line}: ${difference}`)
  }
  const left = player.unexplained()
  if (left !== undefined) throw new Error(left)
  return { world, account, folder: player.folder }
}

const readingMs = 1_000
/** Longest step of a sandbox message. */
const stepMs = 125
const asByDefault = { rate_limit_messages: 100, rate_limit_default: 20 }

interface Stage {
  readonly world: World
  readonly account: TestAccount
  readonly live_key: string
  readonly port: string
}

function pageValues({ world, account, live_key, port }: Stage) {
  const seen = new Map([
    ['acc', account.id],
    ['svc_test', account.key],
    ['svc_live', live_key],
  ])
  const real = (text: string) =>
    text
      .replaceAll(shownAddress, world.base_url)
      .replaceAll(shownPort, port)
      .replaceAll(placeholder, (all, prefix: string) => seen.get(prefix) ?? all)
  const asShown = (text: string) =>
    text.replaceAll(world.base_url, shownAddress).replaceAll(new RegExp(`\\b${port}\\b`, 'g'), '3000')

  function note(text: string): void {
    const found = new Map<string, string>()
    for (const [value] of text.matchAll(idOrSecret)) {
      const prefix = value.slice(0, value.lastIndexOf('_'))
      if (!found.has(prefix)) found.set(prefix, value)
    }
    for (const [prefix, value] of found) seen.set(prefix, value)
  }
  return { real, asShown, note }
}

async function writeCommands(
  { language, text, line }: Block,
  folder: string,
  real: (text: string) => string,
): Promise<string> {
  if (language !== 'ts') return real(text)
  await writeFile(join(folder, `program-${line}.ts`), real(text))
  return `node program-${line}.ts`
}

async function answerDifference(
  { language, text, mark }: Block,
  printed: string,
  printedBeside: () => Promise<string>,
): Promise<string | undefined> {
  if (mark?.kind !== 'beside') return differenceOf(language, text, printed)
  return await until(
    'the program beside to print what is shown',
    async () => differenceOf(language, text, await printedBeside()),
    (difference) => difference === undefined,
  )
}

async function startPlayer(t: TestContext, stage: Stage) {
  const { world, account } = stage
  const home = await mkdtemp(join(tmpdir(), 'posthorn-page-'))
  closing(t, () => rm(home, { recursive: true, force: true, maxRetries: 5 }))
  const folder = join(home, 'folder')
  await mkdir(folder)
  const shell = startShell(t, home, folder, environment(stage, home))
  const values = pageValues(stage)
  let [printed, beside] = ['', '']
  let refused: string | undefined
  async function runCommands(block: Block): Promise<string | undefined> {
    const { text, mark, line } = block
    if (mark?.kind === 'later') await letPass(world, mark.ms)
    // the test client waits until all events are visible
    if (/\/v1\/events|posthorn -- listen/.test(text)) await account.api.get('/v1/events')
    const commands = await writeCommands(block, shell.cwd(), values.real)
    if (mark?.kind === 'beside') {
      beside = await shell.runBeside(commands, `${line}`)
      values.note(await readFile(beside, 'utf8'))
      return undefined
    }
    const running = shell.run(commands, `${line}`)
    const { out, err, status } = await (mark?.kind === 'while time passes' ? whileTimePasses(world, running) : running)
    printed = values.asShown(out)
    values.note(out)
    if (out.includes('{"error":'))
      refused = `the commands of line ${line} were refused, which the page does not show: ${printed}`
    if (status !== 0) return `ended with ${status}: ${err}${out}`
    await letPass(world, readingMs)
    return undefined
  }

  return {
    folder,
    unexplained: () => refused,
    async play(block: Block): Promise<string | undefined> {
      const { language, mark } = block
      if (mark?.kind === 'not run') return undefined
      if (mark?.kind === 'file') {
        await writeFile(join(shell.cwd(), mark.name), values.real(block.text))
        return undefined
      }
      if (mark?.kind === 'excerpt') return excerptDifference(block.text, await readFile(join(root, mark.path), 'utf8'))
      if (language === 'sh' || language === 'ts') return refused ?? (await runCommands(block))
      refused = undefined
      return answers.includes(language)
        ? await answerDifference(block, printed, async () => values.asShown(await readFile(beside, 'utf8')))
        : `a block of ${language} that is no file and is not marked as not run`
    },
  }
}

function environment({ world, account, live_key }: Stage, home: string): NodeJS.ProcessEnv {
  return {
    PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
    HOME: home,
    LANG: 'C.UTF-8',
    BASE: world.base_url,
    KEY: account.key,
    LIVE_KEY: live_key,
    DATABASE_URL: world.database_url,
    POSTHORN_DATA_DIR: join(home, 'data'),
    POSTHORN_SECRET_KEY: testSecretKeys.current,
    POSTHORN_BASE_URL: world.base_url,
    POSTHORN_SIMULATOR: 'true',
    POSTHORN_LOG_LEVEL: 'silent',
    ...npmSettings(home),
  }
}

/** One shell per page keeps variables and functions. */
function startShell(t: TestContext, home: string, folder: string, env: NodeJS.ProcessEnv) {
  const child = spawn('bash', ['--noprofile', '--norc'], {
    cwd: folder,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  closing(t, () => end(child))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  child.stdin.write(commandLine)
  const path = (name: string) => join(home, name)
  let cwd = folder
  return {
    cwd: () => cwd,
    async run(commands: string, name: string) {
      await writeFile(path(`${name}.sh`), commands)
      child.stdin.write(
        `source '${path(name)}.sh' >'${path(name)}.out' 2>'${path(name)}.err' </dev/null; echo "$? $PWD"\n`,
      )
      const { value } = await within('the commands to end', lines.next())
      const [, status, at] = /^(\d+) (.*)$/.exec(String(value)) ?? []
      cwd = at!
      const [out, err] = await Promise.all([
        readFile(path(`${name}.out`), 'utf8'),
        readFile(path(`${name}.err`), 'utf8'),
      ])
      return { out, err, status: Number(status) }
    },
    /** Resolves to the output file once something is printed. */
    async runBeside(commands: string, name: string): Promise<string> {
      await writeFile(path(`${name}.sh`), commands)
      child.stdin.write(`( source '${path(name)}.sh' ) >'${path(name)}.out' 2>&1 </dev/null &\n`)
      await until('the program beside to print something', async () =>
        existsSync(path(`${name}.out`)) ? await readFile(path(`${name}.out`), 'utf8') : '',
      )
      return path(`${name}.out`)
    },
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  process.kill(-child.pid!, 'SIGKILL')
  await within('the shell to end', exited)
}

async function letPass(world: World, ms: number): Promise<void> {
  const near = Math.min(ms, readingMs)
  await world.clock.advance(ms - near)
  for (let passed = 0; passed <= near; passed += stepMs) {
    await world.settle()
    if (passed < near) await world.clock.advance(stepMs)
  }
}

async function whileTimePasses<T>(world: World, running: Promise<T>): Promise<T> {
  let over = false
  const done = running.finally(() => (over = true))
  await until('commands to end while time passes', async () => {
    await world.clock.advance(1000)
    await world.settle()
    return over
  })
  return await done
}
