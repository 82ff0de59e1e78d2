/** Conformance: receipts identify messages by our ids if the provider returns them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import type { Callback, Provider } from '../../../src/providers/provider.ts'
import { closing } from '../closing.ts'
import { patientServer } from '../patient-server.ts'
import { within } from '../waiting.ts'
import { sender } from './send-attempts.ts'
import { left, type AdapterSamples, type Provoked, type Start } from './samples.ts'

export async function givesBackOurId(t: TestContext, provider: Provider, samples: AdapterSamples): Promise<void> {
  const { outcomes, connection, tools, receipt } = samples
  assert.ok(receipt !== undefined && !left(receipt) && !left(outcomes.accepted))
  const [{ to, content }] = [outcomes.accepted].flat() as [Provoked]
  const send = await sender(t, provider, samples)
  const ids = ['msg_00000000000000000000000007', 'msg_00000000000000000000000008']

  for (const id of ids) {
    await send({ to, ...content, id })
    const received = provider.adapter(tools).receiveCallback!(await receipt(), connection)
    const ids = received?.items.flatMap((report) =>
      report.kind === 'delivery_receipt' ? [report.message_id ?? report.provider_id] : [],
    )
    assert.deepEqual(ids, [id], 'the receipt names the message by our id')
  }
}

export async function tryOwnIds(
  suite: TestContext,
  provider: Provider,
  begin: Start,
  { tools, receipt }: AdapterSamples,
): Promise<void> {
  if (provider.adapter(tools).receiveCallback === undefined) return
  assert.ok(receipt !== undefined, 'a provider that calls back has receipts with our id, or says why not')
  if (left(receipt)) return
  await suite.test('names a message by our own id in its receipt', async (t) =>
    givesBackOurId(t, provider, await begin(t)),
  )
}

export async function catchCallbacks(t: TestContext) {
  const caught: Callback[] = []
  let meant = ''
  const server = patientServer((request, response) => {
    void buffer(request).then((body) => {
      const url = new URL(new URL(request.url ?? '/', 'http://caught').search, meant)
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
      caught.push({
        method: request.method ?? '',
        url: url.href,
        headers,
        query: Object.fromEntries(url.searchParams),
        body,
      })
      response.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await within('a receiver to listen', once(server, 'listening'))
  closing(t, () => void server.close())
  return {
    reach(url: string): string {
      meant = url
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}/${new URL(url).search}`
    },
    last: (): Callback => caught.at(-1)!,
  }
}
