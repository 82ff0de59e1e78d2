/** `posthorn webhooks …`, over HTTP (behaviour: command-line 9). */
import type { Command } from 'commander'
import type { WebhookEndpoint } from '../api/resources/webhook-endpoint.ts'
import { printable } from '../lib/text.ts'
import { asksService, serviceOf, type AccessOptions } from './access.ts'
import { pageSize } from './arguments.ts'
import type { Register } from './program.ts'

interface ListOptions extends AccessOptions {
  limit?: number
  startingAfter?: string
}

const line = ({ id, status, url, events }: WebhookEndpoint): string =>
  `${id}  ${status.padEnd(8)}  ${printable(url)}  ${events.map(printable).join(',')}`

export const registerWebhooks: Register = (program, cli) => {
  const webhooks = program.command('webhooks').description('list webhook endpoints')

  asksService(webhooks.command('list').description('list webhook endpoints, newest first'), [
    'webhooks list',
    'webhooks list --json',
  ])
    .option('--limit <count>', 'how many, 1 to 100; default: 20', pageSize)
    .option('--starting-after <endpoint>', 'the ones after this id')
    .action(async (options: ListOptions, command: Command) => {
      const query = { limit: options.limit, starting_after: options.startingAfter }
      const { data } = await (
        await serviceOf(options, cli.terminal.env)
      ).get<{ data: WebhookEndpoint[] }>('/v1/webhook_endpoints', { query })
      cli.print(command, { json: data, text: data.length === 0 ? 'There are none.' : data.map(line).join('\n') })
    })
}
