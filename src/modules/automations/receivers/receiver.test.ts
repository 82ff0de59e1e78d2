/** One source's flood: it is refused at its bound, and takes nothing from another one's webhooks. */
import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { customWebhook } from '../../../../test/support/shop-webhooks.ts'
import { until } from '../../../../test/support/waiting.ts'
import { Problem } from '../../../api/problem.ts'
import type { AutomationEvent } from '../../../api/resources/automation-event.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Reporting } from '../reporting/reporting.ts'
import type { KnownSource } from './known-sources.ts'
import { receiverOf } from './receiver.ts'
import { signingKey } from '../../../sources/signatures.ts'

const arrived_at = Date.parse('2026-01-31T09:30:00.000Z')
const source = (id: string): KnownSource => ({
  account_id: 'acc_1',
  mode: 'test',
  id,
  platform: 'custom',
  disabled: false,
  suspended: false,
  keyOf: (scheme) => signingKey(scheme, 'a secret of ours'),
})

test('more than 256 webhooks of one source at once are refused, those of another are taken, and what is not signed takes no place', async () => {
  const waiting: (() => void)[] = []
  const reporting: Reporting = {
    report: ({ source: { id }, event_id }) => {
      const reported = { receipt: { id: event_id } as AutomationEvent, duplicate: false }
      return id === 'src_flood'
        ? new Promise((resolve) => waiting.push(() => resolve(reported)))
        : Promise.resolve(reported)
    },
    load: () => waiting.length,
    stop: () => Promise.resolve(),
  }
  const receiver = receiverOf({
    platform: {} as Platform,
    sources: { find: (id) => Promise.resolve(source(id)), forget: () => undefined },
    reporting,
  })
  const send = (id: string, n: number, secret = 'a secret of ours') => {
    const { headers, body } = customWebhook(
      secret,
      arrived_at / 1000,
      JSON.stringify({ type: 'order.paid', event_id: String(n) }),
    )
    return receiver
      .take('custom', id, {
        raw: { headers } as unknown as IncomingMessage,
        arrived_at,
        readBody: () => Promise.resolve(Buffer.from(body)),
      })
      .then(() => 'taken')
      .catch((error: unknown) => (error instanceof Problem ? error.code : Promise.reject(error as Error)))
  }

  const unsigned = await Promise.all(Array.from({ length: 300 }, (_, n) => send('src_flood', n, 'a secret of theirs')))
  const flood = Array.from({ length: 256 }, (_, n) => send('src_flood', n))
  const beyond = await send('src_flood', 257)
  const other = await send('src_other', 1)
  for (const go of waiting) go()
  const taken = await Promise.all(flood)
  const after = send('src_flood', 258)
  await until('the next one to wait', () => waiting.length === 257)
  waiting.at(-1)!()

  assert.deepEqual([...new Set(unsigned)], ['webhook_signature_invalid'])
  assert.deepEqual([beyond, other], ['rate_limit_exceeded', 'taken'])
  assert.deepEqual([[...new Set(taken)], await after], [['taken'], 'taken'])
})
