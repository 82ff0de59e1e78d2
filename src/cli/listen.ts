/** `posthorn listen`: webhooks on a laptop without a tunnel (behaviour: command-line 5). */
import type { Command } from 'commander'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../lib/clock.ts'
import { printable } from '../lib/printable.ts'
import { hostPort } from '../lib/public-address.ts'
import { accessOf, apiKey } from './access.ts'
import { httpUrl, words } from './arguments.ts'
import { eventList } from './event-list.ts'
import { untilStopped } from './until-stopped.ts'
import type { Register } from './program.ts'

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
      'an API key with the scope events:read; default: POSTHORN_API_KEY, else the one that `posthorn login` keeps',
      apiKey,
    )
    .requiredOption('--forward-to <url>', 'where to post: http://localhost:3000/webhooks', httpUrl)
    .option('--events <types>', 'comma-separated event types or prefixes such as message.*; default: all', words)
    .option(
      '--url <url>',
      'where the service runs; default: that of the login, else POSTHORN_BASE_URL, else http://HOST:PORT',
      httpUrl,
    )
    .action(async (options: ListenOptions, command: Command) => {
      const events = eventList(options.events, command)
      const { env, out, err } = cli.terminal
      const { key, base_url } = await accessOf({ apiKey: options.key, baseUrl: options.url }, env)
      // loaded here, since no other command needs them
      const [{ makeListener }, { httpPoster }, { nameResolver }] = await Promise.all([
        import('./listener.ts'),
        import('../lib/http-post.ts'),
        import('../lib/name-lookup.ts'),
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
            // with --json standard output holds one value and nothing else
            tell: (line) => (json ? err : out)(`${printable(line)}\n`),
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
