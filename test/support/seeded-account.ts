/** A test-mode account with two weeks of history, for screenshots. */
import type { TestAccount, World } from './world.ts'

export interface SeededAccount {
  readonly failed_message: string
  readonly conversation: string
  readonly contact: string
  readonly segment: string
  readonly campaign: string
  readonly automation: string
  readonly endpoint: string
}

const dayMs = 86_400_000
const people = [
  ['Ada', 'Okafor', '+4915112345601', 'pro'],
  ['Bruno', 'Silva', '+4915112345602', 'pro'],
  ['Chiara', 'Rossi', '+4915112345603', 'basic'],
  ['Dilek', 'Yılmaz', '+4915112345604', 'basic'],
  ['Emil', 'Novák', '+4915112345605', 'pro'],
  ['Fatima', 'Haddad', '+4915112345606', 'basic'],
  ['Goro', 'Tanaka', '+4915112345607', 'pro'],
  ['Hanna', 'Lindqvist', '+4915112345608', 'basic'],
] as const
const outcomes = ['+15005550002', '+15005550001', '+15005550010'] as const

type Body = Record<string, unknown>

export async function seedAccount(world: World, account: TestAccount): Promise<SeededAccount> {
  const make = async (path: string, body: Body) => {
    const answer = await account.api.post(path, body)
    if (answer.status >= 300) throw new Error(`POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const pass = async (ms: number) => {
    await world.clock.advance(ms)
    await world.settle()
  }
  const receiver = world.receiver()
  const endpoint = await make('/v1/webhook_endpoints', {
    url: receiver.url,
    events: ['message.delivered', 'message.failed'],
    description: 'Orders',
  })
  const contacts: Body[] = []
  for (const [first_name, last_name, phone, plan] of people)
    contacts.push(
      await make('/v1/contacts', {
        first_name,
        last_name,
        phone,
        email: `${first_name.toLowerCase()}@example.com`,
        tags: [plan === 'pro' ? 'regular' : 'new'],
        attributes: { plan, cups: first_name.length * 7 },
        consent: { sms: 'opted_in', whatsapp: 'opted_in' },
      }),
    )
  await fortnight(make, pass)
  const segment = await make('/v1/segments', {
    name: 'Regulars on the pro plan',
    rules: { match: 'all', conditions: [{ field: 'attributes.plan', operator: 'equals', value: 'pro' }] },
  })
  const campaign = await sentCampaign(make, pass)
  const automation = await parcelAutomation(make, pass)
  receiver.always({ status: 503 })
  const failed = await make(
    '/v1/messages',
    textTo('ch_test_sms', outcomes[0], 'Your table for two is ready at seven.', 'table-118'),
  )
  for (let n = 0; n < 3; n++) await pass(30_000)
  receiver.always({ status: 200 })
  const conversation = await talk(world, account, make, pass)
  return {
    failed_message: failed['id'] as string,
    conversation,
    contact: contacts[0]!['id'] as string,
    segment: segment['id'] as string,
    campaign,
    automation,
    endpoint: endpoint['id'] as string,
  }
}

type Make = (path: string, body: Body) => Promise<Body>
type Pass = (ms: number) => Promise<void>

const textTo = (channel: string, to: string, body: string, reference?: string): Body => ({
  channel,
  to,
  type: 'text',
  text: { body },
  ...(reference === undefined ? {} : { reference }),
})

async function fortnight(make: Make, pass: Pass): Promise<void> {
  for (let day = 0; day < 14; day++) {
    for (let n = 0; n < 4 + (day % 7) + Math.floor(day / 3); n++) {
      const [name, , phone] = people[(day + n) % people.length]!
      const to = n % 9 === 5 ? outcomes[day % 2]! : n % 4 === 1 ? outcomes[2] : phone
      await make(
        '/v1/messages',
        textTo(
          'ch_test_sms',
          to,
          `${name}, your order ${1000 + day * 20 + n} is ready.`,
          `order-${1000 + day * 20 + n}`,
        ),
      )
    }
    await pass(2000)
    await pass(dayMs - 2000)
  }
}

async function sentCampaign(make: Make, pass: Pass): Promise<string> {
  const recipients = [
    ...people.map(([first_name, , phone]) => ({ to: phone, variables: { first_name } })),
    { to: outcomes[1], variables: { first_name: 'Ivo' } },
  ]
  const campaign = await make('/v1/campaigns', {
    name: 'Spring roast',
    channel: 'ch_test_sms',
    audience: { type: 'adhoc', recipients },
    message: { type: 'text', text: { body: 'Hello {{first_name}}, the spring roast is here. STOP ends this.' } },
    consent_declared: true,
  })
  await make(`/v1/campaigns/${String(campaign['id'])}/launch`, {})
  for (let n = 0; n < 4; n++) await pass(1000)
  return campaign['id'] as string
}

async function parcelAutomation(make: Make, pass: Pass): Promise<string> {
  const source = await make('/v1/integration_sources', {
    platform: 'custom',
    external_id: 'harbour.example',
    name: 'Web shop',
  })
  const automation = await make('/v1/automations', {
    name: 'Your parcel is on its way',
    source_id: source['id'],
    event_type: 'order.shipped',
    channel_id: 'ch_test_sms',
    message: { type: 'text', text: { body: '{{first_name}}, parcel {{data.order.number}} is on its way.' } },
    status: 'active',
  })
  for (const [at, [first_name, , phone]] of people.slice(0, 4).entries())
    await make('/v1/automation_events', {
      source: source['id'],
      type: 'order.shipped',
      event_id: `shipped-${at}`,
      customer: { phone, first_name },
      data: { order: { number: String(2040 + at) } },
    })
  for (let n = 0; n < 3; n++) await pass(1000)
  return automation['id'] as string
}

async function talk(world: World, account: TestAccount, make: Make, pass: Pass): Promise<string> {
  const [ada, bruno, chiara] = people
  const writes = ([first_name, last_name, phone]: (typeof people)[number], body: string) =>
    make('/v1/test/inbound_messages', {
      channel: 'ch_test_whatsapp',
      from: phone,
      profile_name: `${first_name} ${last_name}`,
      type: 'text',
      text: { body },
    })
  await writes(chiara, 'Are you open on Sunday?')
  await pass(60_000)
  await writes(bruno, 'The beans are wonderful, thank you!')
  await pass(60_000)
  await writes(ada, 'Hello! Can I change my order to oat milk?')
  await pass(90_000)
  await make('/v1/messages', textTo('ch_test_whatsapp', ada[2], 'Of course, Ada. It is noted: oat milk from now on.'))
  await pass(45_000)
  await writes(ada, 'Lovely. And when will it be here?')
  await pass(2000)
  const [row] = await world.pool<{ id: string }[]>`
    select id from conversations where account_id = ${account.id} and mode = 'test' and identifier = ${ada[2]}`
  return row!.id
}
