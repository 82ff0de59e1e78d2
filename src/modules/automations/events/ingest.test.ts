import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { Problem } from '../../../api/problem.ts'
import type { AutomationEvent } from '../../../api/resources/automation-event.ts'
import { eventIngest } from './ingest.ts'
import type { EventQueue } from './queue.ts'
import type { WebhookSender } from '../sources/lookup.ts'
import type { Platform } from '../../../platform/platform.ts'
import { customWebhook } from '../../../../test/support/shop-webhooks.ts'
import { until } from '../../../../test/support/waiting.ts'

const arrived_at = Date.parse('2026-01-31T09:30:00.000Z')
const senderOf = (id: string): WebhookSender => ({
  account_id: 'acc_1',
  mode: 'test',
  id,
  platform: 'custom',
  disabled: false,
  suspended: false,
  checkOf: (platform) => platform.signatureCheck('a secret of ours'),
})

test('more than 256 webhooks of one source at once are refused, other sources are not affected, and unsigned webhooks do not count', async () => {
  const waiting: (() => void)[] = []
  const events: EventQueue = {
    accept: ({ source: { id }, event_id }) => {
      const reported = { receipt: { id: event_id } as AutomationEvent, duplicate: false }
      return id === 'src_flood'
        ? new Promise((resolve) => waiting.push(() => resolve(reported)))
        : Promise.resolve(reported)
    },
    load: () => waiting.length,
    stop: () => Promise.resolve(),
  }
  const ingest = eventIngest({
    platform: {} as Platform,
    senders: { find: (id) => Promise.resolve(senderOf(id)), forget: () => undefined },
    events,
  })
  const send = (id: string, n: number, secret = 'a secret of ours') => {
    const { headers, body } = customWebhook(
      secret,
      arrived_at / 1000,
      JSON.stringify({ type: 'order.paid', event_id: String(n) }),
    )
    return ingest
      .receive('custom', id, {
        raw: { headers } as unknown as IncomingMessage,
        arrived_at,
        readBody: () => Promise.resolve(Buffer.from(body)),
      })
      .then(() => 'stored')
      .catch((error: unknown) => (error instanceof Problem ? error.code : Promise.reject(error as Error)))
  }

  const unsigned = await Promise.all(Array.from({ length: 300 }, (_, n) => send('src_flood', n, 'a secret of theirs')))
  const flood = Array.from({ length: 256 }, (_, n) => send('src_flood', n))
  const beyond = await send('src_flood', 257)
  const other = await send('src_other', 1)
  for (const resume of waiting) resume()
  const stored = await Promise.all(flood)
  const after = send('src_flood', 258)
  await until('the next one to wait', () => waiting.length === 257)
  waiting.at(-1)!()

  assert.deepEqual([...new Set(unsigned)], ['webhook_signature_invalid'])
  assert.deepEqual([beyond, other], ['rate_limit_exceeded', 'stored'])
  assert.deepEqual([[...new Set(stored)], await after], [['stored'], 'stored'])
})
