/** `posthorn listen`: webhooks on a laptop without a tunnel (behaviour: command-line 5). */
import type { Command } from 'commander'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../lib/clock.ts'
import { hostPort } from '../lib/public-address.ts'
import { httpUrl, words } from './arguments.ts'
import type { Register } from './program.ts'

interface ListenOptions {
  key: string
  forwardTo: URL
  events?: string[]
  url?: URL
}

export const registerListen: Register = (program, cli) => {
  program
    .command('listen')
    .description('follow the event feed and post each event, signed, to a local address')
    .requiredOption('--key <key>', 'an API key with the scope events:read')
    .requiredOption('--forward-to <url>', 'where to post: http://localhost:3000/webhooks', httpUrl)
    .option('--events <types>', 'comma-separated event types or prefixes such as message.*; default: all', words)
    .option('--url <url>', 'where the service runs; default: POSTHORN_BASE_URL, else http://HOST:PORT', httpUrl)
    .action(async (options: ListenOptions, command: Command) => {
      const events = options.events === undefined ? [] : await eventList(options.events, command)
      // loaded here, since no other command needs them
      const [{ readConfig }, { makeListener }, { httpPoster }, { nameResolver }] = await Promise.all([
        import('../config.ts'),
        import('./listener.ts'),
        import('../lib/http-post.ts'),
        import('../lib/name-lookup.ts'),
      ])
      const { env, out, err } = cli.terminal
      const json = command.optsWithGlobals()['json'] === true
      const base_url = options.url?.href.replace(/\/+$/, '') ?? readConfig(env).base_url
      const data_dir = env['POSTHORN_DATA_DIR']?.trim() ?? ''
      const end = new AbortController()
      const stop = () => end.abort()
      const clock = systemClock()
      const poster = httpPoster({ clock, resolve: nameResolver(), allowed_hosts: [hostPort(options.forwardTo)] })
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
      try {
        const listener = await makeListener({
          base_url,
          key: options.key,
          forward_to: options.forwardTo.href,
          events,
          folder: join(data_dir === '' ? join(homedir(), '.posthorn') : data_dir, 'listen'),
          clock,
          poster,
          // with --json standard output holds one value and nothing else
          tell: (line) => (json ? err : out)(`${line}\n`),
          signal: end.signal,
        })
        cli.print(command, {
          json: { object: 'listener', base_url, forward_to: options.forwardTo.href, events, secret: listener.secret },
          text: `Forwarding the events of ${base_url} to ${options.forwardTo.href}\nSigning secret: ${listener.secret}`,
        })
        await listener.follow()
      } finally {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop)
        await poster.close()
      }
    })
}

/** What does not fit is wrong usage, as an argument is that is refused while it is read. */
async function eventList(events: readonly string[], command: Command): Promise<readonly string[]> {
  const { eventTypes, isEventType } = await import('../contract/events.ts')
  const prefixes = new Set(Object.keys(eventTypes).map((type) => `${type.split('.')[0]!}.*`))
  const unknown = events.find((event) => event !== '*' && !isEventType(event) && !prefixes.has(event))
  if (unknown !== undefined || events.length === 0)
    command.error(`error: ${unknown ?? 'an empty list'} is no event type. Give types such as message.delivered, or a prefix such as message.*.`)
  return events
}
