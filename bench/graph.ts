/** A cheap stand-in for Meta's Graph API, in front of the tests' simulator. It does not check content. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { startWhatsapp, type WhatsappSimulator } from '../test/support/simulators/whatsapp.ts'
import { leanResponse, leanServer } from './lean-server.ts'

interface Taken {
  readonly id: string
  readonly to: string
  readonly biz_opaque_callback_data: string | undefined
}

export interface BenchGraph extends AsyncDisposable, Pick<WhatsappSimulator, 'credentials' | 'templates'> {
  readonly url: string
  /** Sends callbacks to this address, soon and in batches, as Meta does. */
  reportTo(hook: string): Reporter
}

export interface Reporter extends AsyncDisposable {
  quiet: boolean
  /** Reports everything not yet reported as delivered, in one callback. */
  tellAll(): Promise<void>
}

const statusesMax = 1000
const tellEveryMs = 20

export async function startGraph(): Promise<BenchGraph> {
  await using parts = new AsyncDisposableStack()
  const simulator = await startWhatsapp()
  parts.defer(() => simulator.close())
  const taken: Taken[] = []
  const url = await listen(parts, simulator, taken)
  const made = parts.move()
  return {
    url,
    credentials: simulator.credentials,
    templates: simulator.templates,
    reportTo: (hook) => startReporter((statuses) => report(simulator, hook, taken.splice(0, statusesMax), statuses)),
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  }
}

async function report(
  simulator: WhatsappSimulator,
  hook: string,
  some: readonly Taken[],
  statuses: readonly string[],
): Promise<void> {
  if (some.length === 0) return
  const shown = some.flatMap(({ id, to, biz_opaque_callback_data }) =>
    statuses.map((status) => ({ id, status, timestamp: '1750030073', recipient_id: to, biz_opaque_callback_data })),
  )
  const status = await simulator.report(hook, [simulator.messages({ statuses: shown })])
  if (status !== 200) throw new Error(`a callback was answered ${status}`)
}

function startReporter(reportSome: (statuses: readonly string[]) => Promise<void>): Reporter {
  const ended = new AbortController()
  const reporter: Reporter = {
    quiet: false,
    tellAll: () => reportSome(['delivered']),
    async [Symbol.asyncDispose]() {
      ended.abort()
      await running
    },
  }
  const run = async () => {
    while (!ended.signal.aborted) {
      if (!reporter.quiet) await reportSome(['sent', 'delivered'])
      await delay(tellEveryMs)
    }
  }
  const running = run()
  return reporter
}

/** Accepts messages; passes everything else on to the simulator. */
async function listen(parts: AsyncDisposableStack, simulator: WhatsappSimulator, taken: Taken[]): Promise<string> {
  const { access_token, phone_number_id } = simulator.credentials
  const messages = new RegExp(String.raw`^POST /v\d+\.0/${phone_number_id}/messages HTTP`)
  const bearer = new RegExp(`^authorization: Bearer ${access_token}$`, 'im')
  let count = 0
  const server = leanServer((head, body) => {
    if (!messages.test(head) || !bearer.test(head)) return passOn(simulator.url, head)
    const { to, biz_opaque_callback_data } = JSON.parse(body.toString()) as Omit<Taken, 'id'>
    const id = `wamid.HBgLMTIwMjU1NTAxMDAVAgARGBI${String(++count).padStart(24, '0')}`
    taken.push({ id, to, biz_opaque_callback_data })
    return leanResponse(
      '200 OK',
      JSON.stringify({
        messaging_product: 'whatsapp',
        contacts: [{ input: to, wa_id: to }],
        messages: [{ id, message_status: 'accepted' }],
      }),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  parts.defer(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function passOn(url: string, head: string): Promise<string> {
  const [method, path] = head.split(' ', 2)
  const authorization = /^authorization: (.*)$/im.exec(head)?.[1]?.trim() ?? ''
  const answer = await fetch(`${url}${path}`, { method: method!, headers: { authorization } })
  return leanResponse(`${answer.status} ${answer.statusText}`, await answer.text())
}
