/** `posthorn listen`: forwards webhooks to a local address without a tunnel (behaviour: command-line 5). */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { hash, randomBytes } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import type { Command } from 'commander'
import { systemClock } from '../lib/clock.ts'
import { printable } from '../lib/text.ts'
import { hostPort } from '../lib/public-address.ts'
import { accessOf, apiKey } from './access.ts'
import { httpUrl, words, eventList } from './arguments.ts'
import { untilStopped } from './terminal.ts'
import type { Register } from './program.ts'
import type { Event } from '../api/resources/event.ts'
import { eventHeaders, signingKey, type SigningKey } from '../lib/event-headers.ts'
import type { HttpPoster } from '../lib/http-poster.ts'
import { makeFolder } from '../lib/system.ts'
import { OperatorError } from '../lib/operator-error.ts'
import { backoffMs, unknownCursorText, eventsAfter, idleMs, isWanted, newestEvent, type FeedOptions } from './events.ts'

interface ListenOptions {
  key?: string
  forwardTo: URL
  events?: string[]
  url?: URL
}

export const registerListen: Register = (program, cli) => {
  program
    .command('listen')
    .description('follow the event feed and post each event, signed, to a local address')
    .option(
      '--key <key>',
      'an API key with the scope events:read; default: POSTHORN_API_KEY, else the one stored by `posthorn login`',
      apiKey,
    )
    .requiredOption('--forward-to <url>', 'where to post: http://localhost:3000/webhooks', httpUrl)
    .option('--events <types>', 'comma-separated event types or prefixes such as message.*; default: all', words)
    .option(
      '--url <url>',
      'URL of the service; default: that of the login, else POSTHORN_BASE_URL, else http://HOST:PORT',
      httpUrl,
    )
    .action(async (options: ListenOptions, command: Command) => {
      const events = eventList(options.events, command)
      const { env, out, err } = cli.terminal
      const { key, base_url } = await accessOf({ apiKey: options.key, baseUrl: options.url }, env)
      // loaded here, because no other command needs them
      const [{ httpPoster }, { nameResolver }] = await Promise.all([
        import('../lib/http-poster.ts'),
        import('../lib/sockets.ts'),
      ])
      const json = command.optsWithGlobals()['json'] === true
      const data_dir = env['POSTHORN_DATA_DIR']?.trim() ?? ''
      const clock = systemClock()
      const poster = httpPoster({ clock, resolve: nameResolver(), allowed_hosts: [hostPort(options.forwardTo)] })
      try {
        await untilStopped(async (signal) => {
          const listener = await makeListener({
            base_url,
            key,
            forward_to: options.forwardTo.href,
            events,
            folder: join(data_dir === '' ? join(homedir(), '.posthorn') : data_dir, 'listen'),
            clock,
            poster,
            // with --json standard output is one JSON value
            print: (line) => (json ? err : out)(`${printable(line)}\n`),
            signal,
          })
          cli.print(command, {
            json: { object: 'listener', base_url, forward_to: options.forwardTo.href, events, secret: listener.secret },
            text: `Forwarding the events of ${base_url} to ${options.forwardTo.href}\nSigning secret: ${listener.secret}`,
          })
          await listener.follow()
        })
      } finally {
        await poster.close()
      }
    })
}

export interface ListenerOptions extends FeedOptions {
  readonly forward_to: string
  /** Prefixes such as `message.*` are allowed; empty: all. */
  readonly events: readonly string[]
  /** Stores the cursor and the secret. */
  readonly folder: string
  readonly poster: HttpPoster
}

interface State {
  readonly secret: string
  /** The last acknowledged or skipped event; empty: the start of the feed; null: begin with the next event. */
  cursor: string | null
}

export interface Listener {
  readonly secret: string
  /** Rejects with an OperatorError when the service refuses the key. */
  follow(): Promise<void>
}

const timeoutMs = 10_000

/** Continues where an earlier listener with the same key, service and address stopped. */
export async function makeListener(options: ListenerOptions): Promise<Listener> {
  const file = join(
    options.folder,
    `${hash('sha256', [options.key, options.base_url, options.forward_to].join('\n'), 'hex').slice(0, 24)}.json`,
  )
  await makeFolder(options.folder).catch((error: Error) => {
    throw stateError(options.folder, error)
  })
  const state = (await readState(file)) ?? { secret: `whsec_${randomBytes(32).toString('base64')}`, cursor: null }
  state.cursor ??= await newestEvent(options)
  await writeState(file, state).catch((error: Error) => {
    throw stateError(options.folder, error)
  })
  return { secret: state.secret, follow: () => follow(options, file, state) }
}

const stateError = (folder: string, error: Error): OperatorError =>
  new OperatorError(
    `The listener cannot store its state in ${folder}: ${error.message}. Set POSTHORN_DATA_DIR to a writable folder.`,
  )

async function follow(options: ListenerOptions, file: string, state: State): Promise<void> {
  const { signal, clock } = options
  const key = signingKey(state.secret)
  while (!signal.aborted && state.cursor !== null) {
    const events = await eventsAfter(options, state.cursor)
    if (events === 'unknown_cursor') {
      options.print(unknownCursorText)
      state.cursor = await newestEvent(options)
      await writeState(file, state)
      continue
    }
    let skipped = false
    for (const event of events ?? []) {
      if (!isWanted(event.type, options.events)) {
        state.cursor = event.id
        skipped = true
        continue
      }
      if (!(await forward(options, key, event))) return
      state.cursor = event.id
      skipped = false
      await writeState(file, state)
    }
    if (skipped) await writeState(file, state)
    if ((events?.length ?? 0) === 0) await clock.sleep(idleMs, signal)
  }
}

/** Retries until acknowledged. False if stopped. */
async function forward(options: ListenerOptions, key: SigningKey, event: Event): Promise<boolean> {
  const { clock, signal, poster, forward_to, print } = options
  const body = Buffer.from(JSON.stringify(event))
  for (let wait = backoffMs.first; ; wait = Math.min(wait * 2, backoffMs.max)) {
    if (signal.aborted) return false
    const headers = eventHeaders([key], event, body, clock.now())
    // finish an exchange that has begun, so that an acknowledged event is not posted again
    const outcome = await poster.post({ url: forward_to, headers, body, timeout_ms: timeoutMs })
    if (outcome.error === null) {
      print(`${event.type} ${event.id} → ${outcome.status}`)
      return true
    }
    print(`${event.type} ${event.id} → ${outcome.error.code}: ${outcome.error.message} Retrying in ${wait / 1000} s.`)
    await clock.sleep(wait, signal)
  }
}

async function readState(file: string): Promise<State | null> {
  try {
    const state = JSON.parse(await readFile(file, 'utf8')) as Partial<State>
    const { secret, cursor } = state
    return typeof secret === 'string' && (typeof cursor === 'string' || cursor === null) ? { secret, cursor } : null
  } catch {
    return null // first start
  }
}

/** Atomic and durable: an acknowledged event is never posted again. */
async function writeState(file: string, state: State): Promise<void> {
  const temporary = `${file}.new`
  const handle = await open(temporary, 'w', 0o600)
  try {
    await handle.writeFile(JSON.stringify(state))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, file)
}
