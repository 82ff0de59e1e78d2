/** Bench `channels`: SMPP on one session, WhatsApp on one number, and callbacks with a thousand messages. */
import { createHmac } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { smsc } from '../test/support/simulators/smsc.ts'
import { posthorn, thisCheckout } from './checkout.ts'
import { startDriver, type Driver } from './drive.ts'
import { compared, interleaved, median, type BenchOptions, type Figure, type Measurement } from './figures.ts'
import { startGraph, type BenchGraph, type Reporter } from './graph.ts'
import { delivered, pathRound, paths, startPath, type PathService } from './rounds.ts'
import { call, type Service } from './service.ts'

const wantedShare = 0.6
const rate = 100_000
const reported = 1000
const callbackSecret = 'secret'
const quietMs = 1000
const template = {
  id: '1',
  name: 'parcel',
  language: 'en_US',
  status: 'APPROVED',
  category: 'UTILITY',
  parameter_format: 'POSITIONAL',
}
const parcel = { type: 'template', template: { name: template.name, language: { code: template.language } } }

interface CallbackCost {
  readonly ms: number
  readonly cpu_us: number
}

interface Scene {
  readonly driver: Driver
  readonly subject: PathService
  readonly reporter: Reporter
  readonly channels: Readonly<Record<'smpp' | 'whatsapp' | 'simulated', string>>
}

export const channels: Measurement = {
  name: 'channels',
  title: 'Channels of real protocols beside the simulator',
  async run(options) {
    await using parts = new AsyncDisposableStack()
    const driver = parts.use(startDriver())
    const graph = parts.use(await startGraph())
    graph.templates.push({
      ...template,
      components: [{ type: 'BODY', text: 'Your parcel is on its way and arrives today.' }],
    })
    const centre = await smsc({ after: () => undefined })
    parts.defer(() => centre.close())
    centre.answer = (message) => {
      setImmediate(() => void centre.receipt(message, 'DELIVRD'))
      return 0
    }
    const env = { POSTHORN_WHATSAPP_GRAPH_URL: graph.url, POSTHORN_WEBHOOK_ALLOWED_HOSTS: centre.host }
    const subject = parts.use(await startPath(paths.dispatch, { env }))
    await posthorn(thisCheckout, subject.service.env, [
      'prices',
      'set',
      '--channel-type',
      'whatsapp',
      '--amount-micros',
      '5000',
    ])
    const connected = await connect(subject.service, graph, centre.port)
    const reporter = parts.use(graph.reportTo(hookOf(subject.service, connected.whatsapp)))
    return await measure(options, { driver, subject, reporter, channels: connected })
  },
}

async function connect({ port, keys }: Service, graph: BenchGraph, smscPort: number): Promise<Scene['channels']> {
  const create = async (body: object) =>
    (await call<{ id: string }>(port, keys[0]!, 'POST', '/v1/channels', { name: 'Bench', ...body })).id
  const credentials = { host: '127.0.0.1', port: smscPort, tls: false, system_id: 'shop', password: 'secret' }
  const settings = { max_messages_per_second: rate }
  return {
    smpp: await create({
      type: 'sms',
      provider: 'smpp',
      identifier: '+12025550101',
      credentials,
      settings: { ...settings, window_size: 200 },
    }),
    whatsapp: await create({ type: 'whatsapp', provider: 'whatsapp_cloud', credentials: graph.credentials, settings }),
    // type and message are WhatsApp's, so that only the callback differs
    simulated: await create({
      type: 'whatsapp',
      provider: 'simulator',
      identifier: '+12025550102',
      credentials: { callback_secret: callbackSecret },
      settings,
    }),
  }
}

const hookOf = ({ port }: Service, channel: string): string => `http://127.0.0.1:${port}/hooks/channels/${channel}`

async function measure({ quick, say }: BenchOptions, scene: Scene): Promise<{ figures: Figure[]; notes: string[] }> {
  const { driver, subject, channels: connected } = scene
  const through = (channel: string, content?: object) => async () =>
    await pathRound(
      driver,
      { ...subject, service: { ...subject.service, channel } },
      { seconds: quick ? 2 : 4, ...(content === undefined ? {} : { content }) },
    )
  const contenders = {
    simulator: through(subject.service.channel),
    smpp: through(connected.smpp),
    whatsapp: through(connected.whatsapp, parcel),
  }
  say('channels: warming up')
  await interleaved(1, contenders)
  say('channels: accepted to delivered')
  const rounds = await interleaved(quick ? 2 : 5, contenders)
  say('channels: callbacks with a thousand changes')
  const callbacks = await interleaved(quick ? 3 : 7, {
    statuses: () => reportStatuses(scene),
    receipts: () => reportReceipts(scene),
  })
  const rateOf = (name: keyof typeof contenders) => median(rounds[name]!.map((round) => round.rate))
  const cpuOf = (name: keyof typeof contenders) =>
    median(rounds[name]!.map((round) => round.node_us + round.postgres_us))
  const costFigure = (name: 'statuses' | 'receipts', field: keyof CallbackCost) =>
    median(callbacks[name]!.map((one) => one[field]))
  const simulator = { name: 'simulator', value: rateOf('simulator') }
  return {
    figures: [
      compared('SMPP on one session, accepted to delivered', '/s', rateOf('smpp'), simulator, { least: wantedShare }),
      compared('WhatsApp on one number, accepted to delivered', '/s', rateOf('whatsapp'), simulator, {
        least: wantedShare,
      }),
      compared('CPU for a message over SMPP', 'µs', cpuOf('smpp'), { name: 'simulator', value: cpuOf('simulator') }),
      compared('CPU for a message over WhatsApp', 'µs', cpuOf('whatsapp'), {
        name: 'simulator',
        value: cpuOf('simulator'),
      }),
      compared(
        'CPU of a callback with 1,000 statuses',
        'µs',
        costFigure('statuses', 'cpu_us'),
        { name: '1,000 receipts', value: costFigure('receipts', 'cpu_us') },
        { most: 1 },
      ),
      compared('… until all are applied', 'ms', costFigure('statuses', 'ms'), {
        name: '1,000 receipts',
        value: costFigure('receipts', 'ms'),
      }),
    ],
    notes: [
      'The SMSC and the Graph API of this machine run in the process of the benchmark, on the same cores; each message gets its receipt: one PDU over SMPP, two statuses in a large callback over WhatsApp.',
      'CPU is that of Node and of PostgreSQL together.',
    ],
  }
}

async function reportStatuses({ subject, reporter, channels: connected }: Scene): Promise<CallbackCost> {
  reporter.quiet = true
  await sendWithoutReceipts(subject.service, { channel: connected.whatsapp, to: '+12125550100', ...parcel })
  const cost = await costOf(subject.service, () => reporter.tellAll())
  reporter.quiet = false
  return cost
}

async function reportReceipts({ subject, channels: connected }: Scene): Promise<CallbackCost> {
  // the simulator sends no receipts for this recipient
  const ids = await sendWithoutReceipts(subject.service, {
    channel: connected.simulated,
    to: '+19995550005',
    ...parcel,
  })
  const body = JSON.stringify({
    reports: ids.map((id) => ({ kind: 'receipt', provider_id: `simulator-${id}`, move: 'deliver' })),
  })
  const headers = {
    'content-type': 'application/json',
    'x-simulator-signature': createHmac('sha256', callbackSecret).update(body).digest('hex'),
  }
  return await costOf(subject.service, async () => {
    const { status } = await fetch(hookOf(subject.service, connected.simulated), { method: 'POST', headers, body })
    if (status !== 200) throw new Error(`a callback was answered ${status}`)
  })
}

/** Sends a thousand messages without receipts; resolves to their ids once accepted. */
async function sendWithoutReceipts({ port, keys }: Service, message: object): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < reported) {
    const messages = Array.from({ length: 100 }, () => message)
    const { data } = await call<{ data: { message?: { id: string } }[] }>(
      port,
      keys[0]!,
      'POST',
      '/v1/messages/batch',
      { messages },
    )
    ids.push(...data.map((item) => item.message!.id))
  }
  for (const status of ['queued', 'sending']) {
    while (
      (await call<{ data: unknown[] }>(port, keys[0]!, 'GET', `/v1/messages?status=${status}&limit=1`)).data.length > 0
    )
      await delay(40)
  }
  return ids
}

async function costOf(service: Service, report: () => Promise<void>): Promise<CallbackCost> {
  await delay(quietMs)
  const counted = service.countCpu()
  const began = performance.now()
  await report()
  await delivered(service)
  const ms = performance.now() - began
  const { node_us, postgres_us } = counted()
  return { ms, cpu_us: node_us + postgres_us }
}
