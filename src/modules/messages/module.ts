/** The module of messages. */
import type { Module } from '../../module.ts'
import { on } from '../../module.ts'
import { ofAccount, ofInstallation, ofParent, ofProcess } from '../../platform/database/table-scope.ts'
import { mountHooks } from '../../platform/http/callback-routes.ts'
import type { Platform } from '../../platform/platform.ts'
import type { BillingService } from '../billing/service.ts'
import { channelSessions, type ChannelService } from '../channels/service.ts'
import type { ContactService } from '../contacts/service.ts'
import type { MediaService } from '../media/service.ts'
import { dispatcher } from './dispatch/dispatcher.ts'
import { failWaiting } from './dispatch/blocked-channels.ts'
import { providerIdCache } from './dispatch/provider-id-cache.ts'
import { cancelForOptOut } from './inbound/inbound.ts'
import { groupCommit, type Ingest } from './accept/group-commit.ts'
import { producersOf } from './accept/producers.ts'
import { queueLimit } from './accept/queue-limit.ts'
import { messageInvariants } from './invariants.ts'
import { messagePeriodicJobs } from './periodic-jobs.ts'
import { storeSessionItems, receiveCallback } from './callbacks/receive.ts'
import { callbackWorkers } from './callbacks/apply.ts'
import { messageRoutes } from './routes.ts'
import {
  messageService,
  type MessageService,
  type ProducerFragment,
  type Projection,
  type SendTimes,
} from './service.ts'
import { projectionsOf, projectionWorker } from './projections.ts'

declare module '../../module.ts' {
  interface Contributions {
    /** Insert messages for their own rows (docs/decisions/producers.md). */
    readonly producers: ProducerFragment
    /** Count messages or react to their transitions (docs/decisions/transitions.md). */
    readonly projections: Projection
    readonly sendTimes: (platform: Platform) => SendTimes
  }
}

interface Needs {
  readonly billing: BillingService
  readonly channels: ChannelService
  readonly contacts: ContactService
  readonly media: MediaService
}

interface MessagesServices {
  readonly messages: MessageService
  /** For tests and benchmarks. */
  readonly ingest: Ingest
}

export const messagesModule: Module<Needs, MessagesServices> = {
  name: 'messages',
  tables: {
    channel_leases: ofProcess,
    channel_pauses: ofAccount,
    dispatch_jobs: ofAccount,
    inbound_parts: ofAccount,
    inbound_references: ofAccount,
    message_attempts: ofAccount,
    message_quarter_counts: ofAccount,
    message_retention: ofInstallation,
    message_status_counts: ofAccount,
    message_transitions: ofAccount,
    messages: ofAccount,
    provider_callbacks: ofParent('channel_id', 'channels'),
    provider_references: ofAccount,
    callback_items: ofAccount,
  },
  build({ platform, roles, alone, contributions }, { billing, channels, contacts, media }) {
    const producers = producersOf(contributions.producers)
    const projections = projectionsOf(platform, contributions.projections)
    const providerIds = providerIdCache()
    const callbacks = { platform, channels, providerIds }
    const sessions = channelSessions(platform, channels, storeSessionItems(callbacks))
    const sendTimes = contributions.sendTimes.map((make) => make(platform))
    const shared = { platform, billing, channels, projections, providerIds }
    const inMemory = roles.includes('worker')
    const dispatch = dispatcher({ ...shared, findSession: sessions.find, sendTimes, inMemory, alone })
    const { withdraw, recheck } = dispatch
    const onAccepted = contacts.messagesAccepted
    const ingest = groupCommit({ platform, billing, projections, producers, memoryQueue: dispatch, alone, onAccepted })
    const queues = queueLimit(platform)
    const messages = messageService({ ...shared, contacts, media, ingest, queues, withdraw })
    return {
      services: { messages, ingest },
      routes: messageRoutes(messages, platform.settings.base_url),
      mount: (server, bodies) =>
        mountHooks(server, '/hooks/channels/:id', bodies, (channel_id, call, readBody) =>
          receiveCallback(callbacks, channel_id, call, readBody),
        ),
      workers: [
        sessions.worker,
        ...dispatch.workers,
        ...callbackWorkers({ ...shared, media, contacts }),
        ...contributions.projections.map((projection) => projectionWorker(platform, projection)),
      ],
      periodicJobs: messagePeriodicJobs(platform, channels),
      invariants: messageInvariants(projections.pairs.map(({ projection }) => projection)),
      handlers: [
        on('channel_deleted', 'messages', failWaiting(platform)),
        on('opted_out', 'messages', cancelForOptOut({ platform, billing, projections, withdraw, recheck })),
      ],
      beforeSharing: () => dispatch.persistSends(),
      start: () => dispatch.rescue(),
      stop: {
        requests: () => dispatch.stop(),
        producers: () => ingest.stop(),
        async dispatch() {
          // messages accepted since the first stop were queued in memory
          await dispatch.stop()
          await sessions.stop()
        },
      },
    }
  },
}
