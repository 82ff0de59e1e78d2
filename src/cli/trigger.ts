/** `posthorn trigger EVENT`: makes a real event happen in test mode, and waits for it (behaviour: command-line 10). */
import { Argument, InvalidArgumentError, type Command } from 'commander'
import { eventTypes, type EventType } from '../api/events.ts'
import type { Event } from '../api/resources/event.ts'
import { systemClock, type SteadyClock } from '../lib/clock.ts'
import { nearest } from '../lib/nearest.ts'
import { OperatorError, UsageError } from '../lib/operator-error.ts'
import { asksService, serviceOf, type AccessOptions } from './access.ts'
import { eventLine } from './events.ts'
import type { Register } from './program.ts'
import type { ServiceApi } from './service-api.ts'
import type { Triggered } from './triggers.ts'

interface TriggerOptions extends AccessOptions {
  endpoint?: string
}

const types = Object.keys(eventTypes) as EventType[]
const known = `There are ${types.join(', ')}.`

const waitMs = 20_000
const betweenLooksMs = 250

export const registerTrigger: Register = (program, cli) => {
  asksService(
    program.command('trigger').description('make an event happen in test mode, as webhooks and the feed will have it'),
    ['trigger message.delivered', 'trigger webhook.test --endpoint we_…'],
  )
    // the choices are for the completion of shells
    .addArgument(new Argument('[event]', 'its type').choices(types).argParser(eventType))
    .option('--endpoint <endpoint>', 'the webhook endpoint that webhook.test is for; default: the only one')
    .addHelpText(
      'after',
      ['', 'Events:', ...types.map((type) => `  ${type.padEnd(22)}${eventTypes[type].when}`)].join('\n'),
    )
    .action(async (type: EventType | undefined, options: TriggerOptions, command: Command) => {
      if (type === undefined) command.error(`error: name the event that is to happen. ${known}`)
      const { triggers } = await import('./triggers.ts')
      const trigger = triggers[type]
      if (typeof trigger === 'string') throw new OperatorError(`${type} cannot be triggered: ${trigger}.`)
      if (options.endpoint !== undefined && type !== 'webhook.test')
        throw new UsageError('error: --endpoint goes with webhook.test alone')
      const api = await serviceOf(options, cli.terminal.env)
      // a live key would send to real people
      if (!api.access.key.startsWith('svc_test_'))
        throw new OperatorError('Events are triggered in test mode: use a key that begins with svc_test_.')
      const clock = systemClock()
      const triggered = await trigger({ api, clock, endpoint: options.endpoint })
      const event = await eventOf(api, clock, type, triggered)
      cli.print(command, { json: event, text: `${triggered.told}\n${eventLine(event)}` })
    })
}

function eventType(text: string): EventType {
  const type = types.find((one) => one === text)
  if (type !== undefined) return type
  const meant = nearest(text.slice(0, 64), types)
  throw new InvalidArgumentError(`${meant === undefined ? '' : `Did you mean ${meant}? `}${known}`)
}

/** Rejects with an OperatorError where the event does not happen in time. */
async function eventOf(
  api: ServiceApi,
  clock: SteadyClock,
  type: EventType,
  { told, object_id, event_id }: Triggered,
): Promise<Event> {
  const until_ms = clock.elapsed() + waitMs
  for (;;) {
    const { data } = await api.get<{ data: Event[] }>('/v1/events', { query: { type, object_id, limit: 20 } })
    const event = data.find(({ id }) => event_id === undefined || id === event_id)
    if (event !== undefined) return event
    if (clock.elapsed() >= until_ms)
      throw new OperatorError(
        `${told} ${type} did not follow within ${waitMs / 1000} s. Does a process with the role worker run? \`posthorn doctor\` tells.`,
      )
    await clock.sleep(betweenLooksMs)
  }
}
