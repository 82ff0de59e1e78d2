import { adapterSuite } from '../../../../test/kit/adapter-suite.ts'
import { providerTools } from '../../../../test/kit/provider-tools.ts'
import { hmacHex } from '../../../lib/hmac.ts'
import type { Connection } from '../adapter.ts'
import { sandbox } from './sandbox.ts'
import { simulator } from './simulator.ts'

const connection = (credentials: Record<string, unknown>): Connection => ({
  channel_id: 'ch_1',
  type: 'sms',
  identifier: '+4915100000001',
  credentials,
  settings: {},
  webhook_url: 'https://example.com/hooks/channels/ch_1',
})

adapterSuite(sandbox, providerTools(), { connection: connection({}), recipients: { accepted: '+15005550006', refused: '+15005550001' } })

const body = Buffer.from(JSON.stringify({ reports: [{ kind: 'receipt', provider_id: 'p1', move: 'deliver' }, { kind: 'nonsense' }, null] }))
adapterSuite(simulator, providerTools(), {
  connection: connection({ callback_secret: 's3cret' }),
  recipients: { accepted: '+4915112345678', refused: '+19995550001', throttled: '+19995550021', unavailable: '+19995550022', unknown: '+19995550023' },
  callback: {
    call: { method: 'POST', url: connection({}).webhook_url, headers: { 'x-simulator-signature': hmacHex('s3cret', body) }, query: {}, body },
    reports: 1,
  },
})
