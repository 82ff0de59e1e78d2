/** The conformance suite refuses adapters that break a rule. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type {
  ProviderAdapter,
  StatusQueryResult,
  Connection,
  Outcome,
  Provider,
  CallbackResult,
  Session,
} from '../../../src/providers/provider.ts'
import { telegramBot } from '../../../src/providers/telegram/telegram.ts'
import { twilio } from '../../../src/providers/twilio/twilio.ts'
import { fakeClock } from '../clock.ts'
import { closing } from '../closing.ts'
import { providerTools } from '../provider-tools.ts'
import { simulateTelegram } from '../simulators/telegram.ts'
import { twilioStatusQuery, simulateTwilio } from '../simulators/twilio.ts'
import { within } from '../waiting.ts'
import { statusQueryTests } from './status-queries.ts'
import { closingTests } from './closing.ts'
import { abortedSendsNothing } from './aborted-sends.ts'
import { catchCallbacks, givesBackOurId } from './own-ids.ts'
import { assertOutcome } from './send-attempts.ts'
import type { AdapterSamples } from './samples.ts'
import { sendsForItsHolder } from './sessions.ts'

const never = new AbortController().signal
const common = { channel_id: 'ch_1', settings: {} }
const outcomesOf = (to: string): AdapterSamples['outcomes'] => {
  const left = { why_not: 'It is not tried here.' }
  return { accepted: { to }, refused: left, throttled: left, unavailable: left, unknown: left }
}
const untried = { wrongConnection: { why_not: '' }, several: { why_not: '' }, hostile: { why_not: '' } }

async function twilioSamples(t: TestContext): Promise<AdapterSamples> {
  const [clock, caught, to] = [fakeClock(), await catchCallbacks(t), '+14155550123']
  const connection: Connection = {
    ...common,
    type: 'sms',
    identifier: '+14155550100',
    credentials: { account_sid: 'AC0123456789abcdef0123456789abcdef', auth_token: 'f00dfeedf00dfeedf00dfeedf00dfeed' },
    webhook_url: 'https://example.com/hooks/channels/ch_1',
  }
  const { account_sid, auth_token } = connection.credentials as { account_sid: string; auth_token: string }
  const sim = await simulateTwilio(t, {
    account_sid,
    auth_token,
    numbers: [connection.identifier],
    now: () => clock.now(),
    reach: caught.reach,
  })
  const tools = providerTools({ url: sim.url, clock })
  closing(t, () => tools.http.close())
  return {
    ...untried,
    tools,
    connection,
    outcomes: outcomesOf(to),
    taken: () => sim.messages.length,
    statusQuery: twilioStatusQuery(sim, to),
    async receipt() {
      await sim.report(sim.messages.at(-1)!, 'delivered')
      return caught.last()
    },
  }
}

async function telegramSamples(t: TestContext): Promise<AdapterSamples> {
  const [bot_token, chat] = ['110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw', 777_000_111]
  const sim = await simulateTelegram(t, { bot_token, username: 'acme_bot' })
  const tools = providerTools({ url: sim.url, clock: fakeClock() })
  closing(t, () => tools.http.close())
  const connection: Connection = {
    ...common,
    type: 'telegram',
    identifier: 'acme_bot',
    credentials: { bot_token },
    webhook_url: 'http://127.0.0.1:8080/hooks/channels/ch_1',
  }
  const session = { connection, say: (body: string) => sim.say(chat, { text: body }) }
  return { ...untried, tools, connection, outcomes: outcomesOf(String(chat)), taken: () => sim.sent.length, session }
}

const wrong = (provider: Provider, spoil: (right: ProviderAdapter) => Partial<ProviderAdapter>): Provider => ({
  ...provider,
  adapter(tools) {
    const right = provider.adapter(tools)
    return { ...right, ...spoil(right) }
  },
})

test('an adapter that sends after an abort is refused, whatever outcome it returns', async (t) => {
  const deaf = wrong(twilio, (right) => ({ send: (message, connection) => right.send!(message, connection, never) }))
  const lying = wrong(twilio, (right) => ({
    async send(message, connection, signal) {
      if (!signal.aborted) return await right.send!(message, connection, signal)
      void right.send!(message, connection, never)
      return { kind: 'unavailable', provider_code: null, message: 'It was aborted.' }
    },
  }))

  await abortedSendsNothing(t, twilio, await twilioSamples(t))
  await assert.rejects(abortedSendsNothing(t, deaf, await twilioSamples(t)), /it was aborted, and is/)
  await assert.rejects(abortedSendsNothing(t, lying, await twilioSamples(t)), /an aborted send attempt was sent/)
})

const wrongAnswers: Readonly<Record<string, (right: ProviderAdapter) => NonNullable<ProviderAdapter['queryStatus']>>> =
  {
    'finds nothing': () => async () => ({ kind: 'not_found' }),
    'has no information': () => async () => ({ kind: 'no_information' }),
    'ignores the content of the message': (right) => async (message, connection, signal) =>
      await right.queryStatus!({ ...message, content: { body: 'Another text' } }, connection, signal),
    'treats a missing list as an empty one': (right) => async (message, connection, signal) => {
      const result = await right.queryStatus!(message, connection, signal)
      return result.kind === 'no_answer' ? { kind: 'not_found' } : result
    },
    'reports a similar message as found by our id': (right) => async (message, connection, signal) => {
      const result = await right.queryStatus!(message, connection, signal)
      return result.kind === 'candidates' ? { kind: 'found', ...result.found[0] } : result
    },
    'returns the newest first': (right) => async (message, connection, signal) => {
      const result = await right.queryStatus!(message, connection, signal)
      return result.kind === 'candidates'
        ? ({ kind: 'candidates', found: result.found.toReversed() } as unknown as StatusQueryResult)
        : result
    },
    'omits failures': (right) => async (message, connection, signal) => {
      const result = await right.queryStatus!(message, connection, signal)
      return result.kind === 'candidates'
        ? ({
            kind: 'candidates',
            found: result.found.map(({ provider_ids }) => ({ provider_ids })),
          } as unknown as StatusQueryResult)
        : result
    },
  }

test('a correct adapter with status queries passes', async (t) => {
  for (const promise of Object.values(statusQueryTests)) await promise(t, twilio, await twilioSamples(t))
})

for (const [name, spoil] of Object.entries(wrongAnswers))
  test(`an adapter is refused whose status query ${name}`, async (t) => {
    const provider = wrong(twilio, (right) => ({ queryStatus: spoil(right) }))
    const broken: string[] = []
    for (const [promised, promise] of Object.entries(statusQueryTests)) {
      const failed = await promise(t, provider, await twilioSamples(t)).then(
        () => false,
        (error: unknown) => error instanceof assert.AssertionError,
      )
      if (failed) broken.push(promised)
    }

    assert.ok(broken.length > 0, 'every test passed')
  })

test('an adapter whose receipts lack our message id is refused', async (t) => {
  const forgetful = wrong(twilio, (right) => ({
    receiveCallback(callback, connection): CallbackResult | null {
      const received = right.receiveCallback!(callback, connection)
      return (
        received && {
          ...received,
          items: received.items.map((report) =>
            'message_id' in report ? { ...report, message_id: undefined! } : report,
          ),
        }
      )
    },
  }))
  const mixed = wrong(twilio, (right) => ({
    send: (message, connection, signal) =>
      right.send!({ ...message, id: 'msg_00000000000000000000000007' }, connection, signal),
  }))

  await givesBackOurId(t, twilio, await twilioSamples(t))
  await assert.rejects(givesBackOurId(t, forgetful, await twilioSamples(t)), /the receipt names the message by our id/)
  await assert.rejects(givesBackOurId(t, mixed, await twilioSamples(t)), /the receipt names the message by our id/)
})

test('a session that closes too early, or continues after its end, is refused', async (t) => {
  const closed = (close: (session: Session) => Promise<void>) =>
    wrong(telegramBot, (right) => {
      const heard = Promise.withResolvers<void>()
      return {
        async openSession(connection, opening) {
          const store: typeof opening.store = async (...args) => {
            const stored = opening.store(...args)
            heard.resolve()
            await stored
          }
          const opened = await right.openSession!(connection, { ...opening, store })
          return opened.kind === 'open'
            ? { kind: 'open', session: { ...opened.session, close: () => close(opened.session) } }
            : opened
        },
        // the connection may deliver later
        async connect(...args) {
          await within('what was said', heard.promise)
          return await right.connect!(...args)
        },
      }
    })
  const hasty = closed(async (session) => void session.close(never))
  const immortal = closed(async () => undefined)
  const [stored, , over] = Object.values(closingTests)

  for (const promise of Object.values(closingTests)) await promise(t, telegramBot, await telegramSamples(t))
  await assert.rejects(stored!(t, hasty, await telegramSamples(t)), /it closed while an item was being stored/)
  await assert.rejects(over!(t, immortal, await telegramSamples(t)))
})

test('an adapter that sends over another session, or without a session that it needs, is refused', async (t) => {
  const greedy = wrong(telegramBot, (right) => ({
    async openSession(connection, opening) {
      const opened = await right.openSession!(connection, opening)
      return opened.kind === 'open'
        ? {
            kind: 'open',
            session: { ...opened.session, send: (message, signal) => right.send!(message, connection, signal) },
          }
        : opened
    },
  }))
  const unsent: Outcome = { kind: 'unavailable', provider_code: null, message: 'There is no session.' }
  const shy = wrong(telegramBot, () => ({ send: async () => unsent }))

  await sendsForItsHolder(t, telegramBot, await telegramSamples(t))
  await assert.rejects(sendsForItsHolder(t, greedy, await telegramSamples(t)), assert.AssertionError)
  await assert.rejects(sendsForItsHolder(t, shy, await telegramSamples(t)), assert.AssertionError)
})

test('an adapter whose throttling does not say what is limited is refused', () => {
  const throttled = { kind: 'throttled', provider_code: '429', message: 'Too many messages.' } as const

  assertOutcome({ ...throttled, limit_on: 'unspecified' })
  for (const limit_on of [undefined, 'everything'])
    assert.throws(() => assertOutcome({ ...throttled, limit_on } as unknown as Outcome), /it says what its limit is on/)
})
