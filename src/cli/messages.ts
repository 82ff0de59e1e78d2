/** `posthorn send` and `posthorn messages …`, over HTTP (behaviour: command-line 9). */
import { InvalidArgumentError, type Command } from 'commander'
import { randomUUID } from 'node:crypto'
import { messageStatuses, type Message } from '../api/resources/message.ts'
import { printable } from '../lib/text.ts'
import { OperatorError, UsageError } from '../lib/operator-error.ts'
import { asksService, serviceOf, type AccessOptions } from './access.ts'
import { oneOfWords, pageSize, time } from './arguments.ts'
import type { Cli, Register } from './program.ts'
import type { ServiceApi } from './service-api.ts'

interface SendOptions extends AccessOptions {
  channel: string
  to: string
  text?: string
  type?: string
  content?: object
  reference?: string
  metadata?: object
  replyTo?: string
  sendAt?: string
  idempotencyKey?: string
}

interface ListOptions extends AccessOptions {
  status?: string
  channel?: string
  direction?: string
  to?: string
  reference?: string
  limit?: number
  startingAfter?: string
}

export const registerMessages: Register = (program, cli) => {
  registerSend(program, cli)
  const messages = program.command('messages').description('look at messages')

  asksService(messages.command('get').description('show a message'), [
    'messages get msg_…',
    'messages get msg_… --json',
  ])
    .argument('<message>', 'its id')
    .action(async (id: string, options: AccessOptions, command: Command) => {
      const message = await (
        await serviceOf(options, cli.terminal.env)
      ).get<Message>(`/v1/messages/${encodeURIComponent(id)}`)
      cli.print(command, { json: message, text: whole(message) })
    })

  asksService(messages.command('list').description('list messages, newest first'), [
    'messages list --status failed',
    'messages list --to +15005550006 --limit 5',
  ])
    .option('--status <status>', 'of this status alone', oneOfWords(messageStatuses))
    .option('--channel <channel>', 'of this channel alone')
    .option('--direction <direction>', 'outbound or inbound', oneOfWords(['outbound', 'inbound']))
    .option('--to <to>', 'to this recipient alone')
    .option('--reference <reference>', 'with this reference alone')
    .option('--limit <count>', 'how many, 1 to 100; default: 20', pageSize)
    .option('--starting-after <message>', 'the ones after this id')
    .action(async (options: ListOptions, command: Command) => {
      const { status, channel, direction, to, reference, limit, startingAfter: starting_after } = options
      const api = await serviceOf(options, cli.terminal.env)
      const query = { status, channel, direction, to, reference, limit, starting_after }
      const { data } = await api.get<{ data: Message[] }>('/v1/messages', { query })
      cli.print(command, { json: data, text: data.length === 0 ? 'There are none.' : data.map(line).join('\n') })
    })
}

function registerSend(program: Command, cli: Cli): void {
  asksService(program.command('send').description('send a message'), [
    'send --channel ch_test_whatsapp --to +15005550006 --text Hello',
    `send --channel ch_test_whatsapp --to +15005550006 --type template --content '{"name":"hello_world","language":{"code":"en_US"}}'`,
  ])
    .requiredOption(
      '--channel <channel>',
      'the id of the channel; with a test key ch_test_whatsapp, ch_test_sms or ch_test_telegram',
    )
    .requiredOption('--to <to>', 'the recipient: E.164 such as +15005550006 on phone channels')
    .option('--text <text>', 'what it says')
    .option('--type <type>', 'another type than text, together with --content')
    .option('--content <json>', 'the content object of that type', jsonObject)
    .option('--reference <reference>', 'your own id of it')
    .option('--metadata <json>', 'an object that is returned unchanged', jsonObject)
    .option('--reply-to <message>', 'the message that it answers')
    .option('--send-at <time>', 'not before then', time)
    .option('--idempotency-key <key>', 'the same key sends once; default: a new one')
    .action(async (options: SendOptions, command: Command) => {
      const body = bodyOf(options)
      const message = await send(
        await serviceOf(options, cli.terminal.env),
        body,
        options.idempotencyKey ?? randomUUID(),
      )
      cli.print(command, {
        json: message,
        text: `${line(message)}\n\nFollow it with posthorn messages get ${message.id}.`,
      })
    })
}

function bodyOf(options: SendOptions): object {
  const { channel, to, text, type, content, reference, metadata, replyTo: reply_to, sendAt: send_at } = options
  const more = { reference, metadata, reply_to, send_at }
  if (text !== undefined && type === undefined && content === undefined)
    return { channel, to, type: 'text', text: { body: text }, ...more }
  if (text === undefined && type !== undefined && content !== undefined)
    return { channel, to, type, [type]: content, ...more }
  throw new UsageError('error: give either --text, or --type and --content together')
}

/** The key allows repeating a request without a response. */
async function send(api: ServiceApi, body: object, idempotencyKey: string): Promise<Message> {
  const { NoAnswer } = await import('./service-api.ts')
  try {
    return await api.post<Message>('/v1/messages', { body, headers: { 'idempotency-key': idempotencyKey } })
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    throw new OperatorError(
      `${error.message} The message may have been accepted. Repeat the command with --idempotency-key ${idempotencyKey}, which never sends it twice.`,
    )
  }
}

function jsonObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // reported below
  }
  throw new InvalidArgumentError(`It must be a JSON object such as '{"body":"Hello"}'.`)
}

const way = ({ direction, from, to }: Message): string =>
  direction === 'inbound' ? `from ${printable(from)}` : `to ${printable(to)}`
const why = ({ error }: Message): string => (error === null ? '' : `  ${error.code}: ${printable(error.message)}`)
const line = (message: Message): string =>
  `${message.id}  ${message.status.padEnd(9)}  ${message.created_at}  ${message.channel_type} ${message.type} ${way(message)}${why(message)}`

function whole(message: Message): string {
  const times = (['send_at', 'sent_at', 'delivered_at', 'read_at', 'failed_at'] as const).flatMap((name) =>
    message[name] === null ? [] : [`  ${name.padEnd(12)}  ${message[name]}`],
  )
  const reference = message.reference === null ? [] : [`  reference     ${printable(message.reference)}`]
  return [
    line(message),
    `  channel       ${message.channel_id}`,
    `  content       ${printable(JSON.stringify(message.content))}`,
    ...reference,
    ...times,
  ].join('\n')
}
