/** `posthorn trigger EVENT`: triggers a real event in test mode (behaviour: command-line 10). */
import { Argument, InvalidArgumentError, type Command } from 'commander'
import { eventTypes, type EventType } from '../api/events.ts'
import type { Event } from '../api/resources/event.ts'
import { systemClock, type SteadyClock, type Clock, isoTime } from '../lib/clock.ts'
import { nearest } from '../lib/text.ts'
import { OperatorError, UsageError } from '../lib/operator-error.ts'
import { asksService, serviceOf, type AccessOptions } from './access.ts'
import { eventLine } from './events.ts'
import type { Register } from './program.ts'
import type { ServiceApi } from './service-api.ts'
import type { Campaign } from '../api/resources/campaign.ts'
import type { Message } from '../api/resources/message.ts'
import type { WebhookDelivery } from '../api/resources/webhook-delivery.ts'
import type { WebhookEndpoint } from '../api/resources/webhook-endpoint.ts'

interface TriggerOptions extends AccessOptions {
  endpoint?: string
}

const types = Object.keys(eventTypes) as EventType[]
const known = `Event types: ${types.join(', ')}.`

const waitMs = 20_000
const pollMs = 250

export const registerTrigger: Register = (program, cli) => {
  asksService(program.command('trigger').description('trigger a real event in test mode, for webhooks and the feed'), [
    'trigger message.delivered',
    'trigger webhook.test --endpoint we_…',
  ])
    // for shell completion
    .addArgument(new Argument('[event]', 'its type').choices(types).argParser(eventType))
    .option('--endpoint <endpoint>', 'the webhook endpoint for webhook.test; default: the only one')
    .addHelpText(
      'after',
      ['', 'Events:', ...types.map((type) => `  ${type.padEnd(22)}${eventTypes[type].when}`)].join('\n'),
    )
    .action(async (type: EventType | undefined, options: TriggerOptions, command: Command) => {
      if (type === undefined) command.error(`error: the event type is missing. ${known}`)
      const trigger = triggers[type]
      if (typeof trigger === 'string') throw new OperatorError(`${type} cannot be triggered: ${trigger}.`)
      if (options.endpoint !== undefined && type !== 'webhook.test')
        throw new UsageError('error: --endpoint is only for webhook.test')
      const api = await serviceOf(options, cli.terminal.env)
      // a live key would send to real people
      if (!api.access.key.startsWith('svc_test_'))
        throw new OperatorError('Events can only be triggered in test mode. Use a key that starts with svc_test_.')
      const clock = systemClock()
      const triggered = await trigger({ api, clock, endpoint: options.endpoint })
      const event = await eventOf(api, clock, type, triggered)
      cli.print(command, { json: event, text: `${triggered.summary}\n${eventLine(event)}` })
    })
}

function eventType(text: string): EventType {
  const type = types.find((one) => one === text)
  if (type !== undefined) return type
  const meant = nearest(text.slice(0, 64), types)
  throw new InvalidArgumentError(`${meant === undefined ? '' : `Did you mean ${meant}? `}${known}`)
}

/** Rejects with an OperatorError after a timeout. */
async function eventOf(
  api: ServiceApi,
  clock: SteadyClock,
  type: EventType,
  { summary, object_id, event_id }: Triggered,
): Promise<Event> {
  const until_ms = clock.elapsed() + waitMs
  for (;;) {
    const { data } = await api.get<{ data: Event[] }>('/v1/events', { query: { type, object_id, limit: 20 } })
    const event = data.find(({ id }) => event_id === undefined || id === event_id)
    if (event !== undefined) return event
    if (clock.elapsed() >= until_ms)
      throw new OperatorError(
        `${summary} ${type} did not happen within ${waitMs / 1000} s. Check with \`posthorn doctor\` that a process with the role worker is running.`,
      )
    await clock.sleep(pollMs)
  }
}

export interface TriggerContext {
  readonly api: ServiceApi
  readonly clock: Clock
  /** For `webhook.test`. */
  readonly endpoint: string | undefined
}

/** The object or the id of the event. */
export interface Triggered {
  readonly summary: string
  readonly object_id: string
  readonly event_id?: string
}

type Trigger = (context: TriggerContext) => Promise<Triggered>

const noMoney = 'test mode has no money; in live mode it follows'

/** A text explains why the event cannot be triggered. */
export const triggers: Readonly<Record<EventType, Trigger | string>> = {
  'message.sent': messageTo('+15005550006'),
  'message.delivered': messageTo('+15005550006'),
  'message.read': messageTo('+15005550010'),
  'message.failed': messageTo('+15005550002'),
  'message.received': receive,
  'channel.connected': 'sandbox channels are always connected; in live mode it follows POST /v1/channels',
  'channel.disconnected':
    'sandbox channels are always connected; in live mode it follows when a provider refuses or drops the connection',
  'balance.low': `${noMoney} a wallet below the threshold (\`posthorn accounts update ID --low-balance-micros N\`) without package credits, once in 24 hours`,
  'package.exhausted': `${noMoney} the message that takes the last credit of \`posthorn packages grant\``,
  'package.expiring': `${noMoney} \`posthorn packages grant --account A --credits 1 --expires-at T\` with a T less than seven days ahead`,
  'campaign.started': startCampaign,
  'campaign.paused': pauseCampaign,
  'campaign.completed': startCampaign,
  'campaign.failed': failCampaign,
  'webhook.test': testEndpoint,
}

const body = 'Sent by posthorn trigger.'

/** A recipient with a fixed outcome (behaviour: test-mode 2.1). */
function messageTo(to: string): Trigger {
  return async ({ api }) => {
    const message = await api.post<Message>('/v1/messages', {
      body: { channel: 'ch_test_whatsapp', to, type: 'text', text: { body } },
    })
    return { summary: `Sent ${message.id} to ${to}.`, object_id: message.id }
  }
}

async function receive({ api }: TriggerContext): Promise<Triggered> {
  const from = '+14155550123'
  const message = await api.post<Message>('/v1/test/inbound_messages', {
    body: { channel: 'ch_test_whatsapp', from, text: { body } },
  })
  return { summary: `Received ${message.id} from ${from}.`, object_id: message.id }
}

const campaignOf = (audience: object) => ({
  name: 'posthorn trigger',
  channel: 'ch_test_sms',
  audience,
  message: { type: 'text', text: { body } },
  consent_declared: true,
  launch: true,
})
const toOne = { type: 'adhoc', recipients: [{ to: '+15005550006' }] }

async function startCampaign({ api }: TriggerContext): Promise<Triggered> {
  const campaign = await api.post<Campaign>('/v1/campaigns', { body: campaignOf(toOne) })
  return { summary: `Launched ${campaign.id}.`, object_id: campaign.id }
}

/** Scheduled in an hour, so that it cannot finish first. */
async function pauseCampaign({ api, clock }: TriggerContext): Promise<Triggered> {
  const schedule = { send_at: isoTime(clock.now() + 3_600_000) }
  const campaign = await api.post<Campaign>('/v1/campaigns', { body: { ...campaignOf(toOne), schedule } })
  await api.post(`/v1/campaigns/${campaign.id}/pause`)
  await api.post(`/v1/campaigns/${campaign.id}/cancel`)
  return { summary: `Launched ${campaign.id}, paused and then cancelled it.`, object_id: campaign.id }
}

/** Time to delete the list on a slow service. */
const failsAfterMs = 8_000

/** Deletes the list before the campaign starts. */
async function failCampaign({ api, clock }: TriggerContext): Promise<Triggered> {
  const list = await api.post<{ id: string }>('/v1/contact_lists', {
    body: { name: `posthorn trigger ${clock.now()}` },
  })
  const schedule = { send_at: isoTime(clock.now() + failsAfterMs) }
  const campaign = await api.post<Campaign>('/v1/campaigns', {
    body: { ...campaignOf({ type: 'list', list_id: list.id }), schedule },
  })
  await api.delete(`/v1/contact_lists/${list.id}`)
  return { summary: `Launched ${campaign.id} and deleted its list.`, object_id: campaign.id }
}

async function testEndpoint({ api, endpoint }: TriggerContext): Promise<Triggered> {
  const id = endpoint ?? (await onlyEndpoint(api))
  const delivery = await api.post<WebhookDelivery>(`/v1/webhook_endpoints/${encodeURIComponent(id)}/test`)
  return {
    summary: `Tested ${id}: ${delivery.error_message ?? `answered ${delivery.response_status ?? 'nothing yet'}`}.`,
    object_id: id,
    event_id: delivery.event_id,
  }
}

async function onlyEndpoint(api: ServiceApi): Promise<string> {
  const { data } = await api.get<{ data: WebhookEndpoint[] }>('/v1/webhook_endpoints', { query: { limit: 2 } })
  if (data.length === 0)
    throw new OperatorError('There is no webhook endpoint to test. Create one with POST /v1/webhook_endpoints.')
  if (data.length > 1)
    throw new UsageError('There are several webhook endpoints. Choose one of `posthorn webhooks list` with --endpoint.')
  return data[0]!.id
}
