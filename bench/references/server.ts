/**
 * `server.ts <kind>`: a reference server on the product's database. `plain` only answers, `bare` stores nothing;
 * `transaction` and `statement` commit every message by itself.
 */
import type { AddressInfo } from 'node:net'
import { accountService } from '../../src/modules/accounts/service.ts'
import { billingService } from '../../src/modules/billing/service.ts'
import { channelService } from '../../src/modules/channels/service.ts'
import { contactService } from '../../src/modules/contacts/service.ts'
import { messageRoutes } from '../../src/modules/messages/routes.ts'
import { queueLimit } from '../../src/modules/messages/accept/queue-limit.ts'
import { mediaService } from '../../src/modules/media/service.ts'
import { messageService } from '../../src/modules/messages/service.ts'
import { projectionsOf } from '../../src/modules/messages/projections.ts'
import { processRateLimiter } from '../../src/platform/http/rate-limit.ts'
import { Connections } from '../../src/platform/http/connections.ts'
import { makeServer } from '../../src/platform/http/server.ts'
import { openPlatform } from '../platform.ts'
import { bareServer } from './bare.ts'
import { ingestByStatement, ingestByTransaction } from './ingests.ts'
import { plainServer } from './plain.ts'

const kind = process.argv[2]
const platform = await openPlatform(String(kind), 20)
const accounts = accountService(platform)
const billing = billingService(platform)
const channels = channelService(platform)
const limiter = processRateLimiter(platform.clock)

function makeReference() {
  if (kind === 'plain') return plainServer()
  if (kind === 'bare') return bareServer({ platform, billing, channels, findKey: accounts.findKey, limiter })
  const ingest =
    kind === 'transaction' ? ingestByTransaction({ platform, billing }) : ingestByStatement({ platform, billing })
  const messages = messageService({
    platform,
    channels,
    contacts: contactService(platform),
    media: mediaService(platform, channels),
    billing,
    ingest,
    queues: queueLimit(platform),
    withdraw: () => new Set(),
    projections: projectionsOf(platform, []),
  })
  return makeServer({
    platform,
    findKey: accounts.findKey,
    limiter,
    routes: messageRoutes(messages, platform.settings.base_url),
    connections: new Connections(platform),
  })
}

const server = makeReference()
await server.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${JSON.stringify({ port: (server.server.address() as AddressInfo).port })}\n`)
process.on('SIGTERM', () => process.exit(0))
