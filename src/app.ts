/** The composition root: the only file that knows every feature. Builds them, subscribes their handlers of domain events, and freezes. */
import type { FastifyInstance } from 'fastify'
import { hostname } from 'node:os'
import { accountRoutes } from './modules/accounts/routes.ts'
import { accountService, isSourceKeyText } from './modules/accounts/service.ts'
import { billingInvariants } from './modules/billing/invariants.ts'
import { billingRoutes } from './modules/billing/routes.ts'
import { billingService } from './modules/billing/service.ts'
import { takePayment } from './modules/billing/top-ups/payment-hook.ts'
import { billingPeriodicJobs } from './modules/billing/worker.ts'
import { channelRoutes } from './modules/channels/routes.ts'
import type { Provider } from './providers/provider.ts'
import { channelService } from './modules/channels/service.ts'
import { channelSessions } from './modules/channels/sessions.ts'
import { channelPeriodicJobs, channelWorkers } from './modules/channels/worker.ts'
import { campaignProjection } from './modules/campaigns/projection.ts'
import { campaignProducer } from './modules/campaigns/producer.ts'
import { campaignSendTimes } from './modules/campaigns/sending/send-times.ts'
import { failOfAccount, failOfChannel, leaveOutDeleted, leaveOutUnsubscribed } from './modules/campaigns/reactions.ts'
import { campaignInvariants } from './modules/campaigns/invariants.ts'
import { campaignRoutes } from './modules/campaigns/routes.ts'
import { campaignService } from './modules/campaigns/service.ts'
import { exportRoutes } from './modules/contacts/export-routes.ts'
import { exportService } from './modules/contacts/export.ts'
import { importInvariants } from './modules/contacts/imports/invariants.ts'
import { importRoutes } from './modules/contacts/imports/routes.ts'
import { importService } from './modules/contacts/imports/service.ts'
import { importsWorker } from './modules/contacts/imports/worker.ts'
import { contactInvariants } from './modules/contacts/invariants.ts'
import { listRoutes } from './modules/contacts/list-routes.ts'
import { contactRoutes } from './modules/contacts/routes.ts'
import { segmentRoutes } from './modules/contacts/segments/routes.ts'
import { contactService } from './modules/contacts/service.ts'
import { pauseOfChannel } from './modules/automations/automations/reactions.ts'
import {
  cancelRunsOfAccounts,
  cancelRunsOfChannels,
  skipRunsOfContacts,
  skipUnsubscribedRuns,
} from './modules/automations/runs/reactions-store.ts'
import { integrationInvariants } from './modules/automations/invariants.ts'
import { automationProducer } from './modules/automations/runs/producer.ts'
import { integrationRoutes } from './modules/automations/routes.ts'
import { integrationService } from './modules/automations/service.ts'
import { integrationPeriodicJobs } from './modules/automations/worker.ts'
import { forgetContacts, keepConversations } from './modules/console/conversations/conversations.ts'
import { operatorRoutes } from './modules/console/routes.ts'
import { consoleGuards } from './modules/console/guards.ts'
import { mailOfDisabledEndpoint } from './modules/console/account/disabled-endpoint.ts'
import { mailOfLowBalance } from './modules/console/account/low-balance.ts'
import { operatorService } from './modules/console/service.ts'
import { mailWorker } from './modules/mail/service.ts'
import { mediaService } from './modules/media/service.ts'
import { keepTold, takeCallback } from './modules/messages/reports/callbacks.ts'
import { groupCommit, type Ingest } from './modules/messages/ingest/group-commit.ts'
import { producersOf, type ProducerFragment } from './modules/messages/ingest/producers.ts'
import { failWaiting } from './modules/messages/dispatch/paused-queues.ts'
import { messageInvariants } from './modules/messages/invariants.ts'
import { cancelForOptOut } from './modules/messages/inbound/opt-out.ts'
import { queueBound } from './modules/messages/ingest/queue-bound.ts'
import { messagePeriodicJobs } from './modules/messages/periodic-jobs.ts'
import { providerIdCache } from './modules/messages/dispatch/provider-ids.ts'
import { reportWorkers } from './modules/messages/reports/reports.ts'
import { messageRoutes } from './modules/messages/routes.ts'
import { messageService } from './modules/messages/service.ts'
import {
  projectionWorker,
  projectionsOf,
  type Projection,
  type Projections,
} from './modules/messages/transitions/projections.ts'
import { dispatcher } from './modules/messages/dispatch/dispatcher.ts'
import { feedRoutes } from './modules/webhooks/feed/routes.ts'
import { feedService } from './modules/webhooks/feed/service.ts'
import { webhookInvariants } from './modules/webhooks/invariants.ts'
import { webhookRoutes } from './modules/webhooks/routes.ts'
import { webhookService } from './modules/webhooks/service.ts'
import { fanOutWorker } from './modules/webhooks/fan-out/fan-out.ts'
import { webhookPeriodicJobs, webhookDeliverer } from './modules/webhooks/worker.ts'
import { idMaker, type IdMaker } from './lib/ids.ts'
import type { Loop } from './platform/jobs/worker.ts'
import { loopsOf, type Loops } from './platform/jobs/workers-of-process.ts'
import { hasConsole, mountPages } from './pages.ts'
import { working } from './working.ts'
import { notifier, type Notifier } from './platform/jobs/notifier.ts'
import { platformPeriodicJobs } from './platform/jobs/periodic-jobs.ts'
import { makePlatform, type PlatformParts } from './platform/make-platform.ts'
import { bodyRoom } from './platform/http/body-room.ts'
import { inFlight } from './platform/http/idempotency.ts'
import { Connections } from './platform/http/connections.ts'
import { mountFiles } from './platform/http/files.ts'
import { mountHooks } from './platform/http/hooks.ts'
import { mountOperatorPages } from './platform/http/operator-pages.ts'
import { processRateLimiter, type RateLimiter } from './platform/http/rate-limit.ts'
import type { Route } from './platform/http/route.ts'
import { makeServer } from './platform/http/server.ts'
import { stopListening } from './platform/http/stopping.ts'
import { roles, type PeriodicJob, type Invariant, type Platform, type Role } from './platform/platform.ts'
import { presence, type Presence } from './platform/jobs/process-registry.ts'

/** Who submits messages for rows of its own, beside requests: a line each, and nobody else (docs/decisions/producers.md). */
const productProducers: readonly ProducerFragment[] = [campaignProducer, automationProducer]

/** Who counts or continues by what becomes of messages: a line each (docs/decisions/transitions.md). */
const productProjections: readonly Projection[] = [campaignProjection]

/** What an app is made of; what is left out gets its production value. */
export interface AppParts extends PlatformParts {
  readonly ids?: IdMaker
  readonly process_id?: string
  readonly roles?: readonly Role[]
  /** Shared rate limits; absent: limits of this process. */
  readonly limiter?: RateLimiter
  /** Those of tests and benchmarks, beside the product's. */
  readonly projections?: readonly Projection[]
  /** As `projections`. */
  readonly producers?: readonly ProducerFragment[]
  /** As `projections`. */
  readonly providers?: readonly Provider[]
}

export type Services = ReturnType<typeof compose>['services']

export interface App {
  readonly platform: Platform
  readonly server: FastifyInstance
  readonly routes: readonly Route[]
  /** The console's own, beside those of `/v1`. */
  readonly consoleRoutes: readonly Route[]
  readonly services: Services
  /** The console has been built, and is served. */
  readonly hasConsole: boolean
  /** What waits to be accepted. */
  readonly ingest: Pick<Ingest, 'load'>
  /** Every worker, also without the role `worker`: tests `tick` them by hand. */
  readonly workers: readonly Loop[]
  readonly periodicJobs: readonly PeriodicJob[]
  readonly invariants: readonly Invariant[]
  /** The worker of this name. */
  worker(name: string): Loop
  /** Whether other processes live; `start` takes part. */
  readonly presence: Presence
  /** Tells running processes what has changed here; for commands, which do not `start`. */
  flush(): Promise<void>
  /** Hears other processes, and runs the workers of its roles. Listening is the caller's: `server.listen`. */
  start(): Promise<void>
  /** Finishes what is in hand: requests, then workers. */
  stop(): Promise<void>
  /** Ends the workers of a `stop` that takes too long; resolves once their passes in hand are done. What they worked on is taken up by whoever comes next. */
  giveUp(): Promise<void>
}

/** Every feature, in the order of their imports. One line each: a new feature is added here and in the lists below, and nowhere else. */
function compose(platform: Platform, parts: AppParts, dispatches: boolean, alone: () => boolean) {
  const accounts = accountService(platform)
  const billing = billingService(platform)
  const channels = channelService(platform, parts.providers === undefined ? {} : { providers: parts.providers })
  const contacts = contactService(platform)
  const media = mediaService(platform, channels)
  const imports = importService(platform)
  const following = [...productProjections, ...(parts.projections ?? [])]
  const producers = producersOf([...productProducers, ...(parts.producers ?? [])])
  const projections = projectionsOf(platform, following)
  const providerIds = providerIdCache()
  const callbacks = { platform, channels, providerIds }
  const sessions = channelSessions(platform, channels, keepTold(callbacks))
  const sendTimes = [campaignSendTimes(platform)]
  const dispatch = dispatcher({
    platform,
    billing,
    channels,
    projections,
    providerIds,
    findSession: sessions.find,
    sendTimes,
    inMemory: dispatches,
    alone,
  })
  const ingest = groupCommit({
    platform,
    billing,
    projections,
    producers,
    handoff: dispatch,
    alone,
    emitted: contacts.messagesAccepted,
  })
  const messages = messageService({
    platform,
    channels,
    contacts,
    media,
    billing,
    ingest,
    queues: queueBound(platform),
    withdraw: dispatch.withdraw,
    projections,
  })
  const webhooks = webhookService(platform)
  const campaigns = campaignService({ platform, accounts, billing, channels, contacts, messages })
  const integrations = integrationService({ platform, accounts, channels, contacts, messages, alone })
  const feed = feedService(platform)
  const operators = operatorService(platform, accounts, feed)
  const deliver = webhookDeliverer(platform, webhooks)
  subscribe(platform, { billing, projections, withdraw: dispatch.withdraw, recheck: dispatch.recheck })
  return {
    services: {
      accounts,
      billing,
      channels,
      media,
      contacts,
      imports,
      messages,
      webhooks,
      feed,
      campaigns,
      integrations,
      operators,
    },
    callbacks,
    ingest,
    dispatch,
    sessions,
    deliver,
    projections,
    workers: [
      sessions.worker,
      ...dispatch.workers,
      ...channelWorkers(platform, channels),
      ...reportWorkers({ platform, billing, projections, channels, media, contacts, providerIds }),
      media.worker,
      mailWorker(platform),
      fanOutWorker(platform, deliver.consumer),
      deliver.worker,
      importsWorker(platform),
      ...campaigns.workers,
      ...integrations.workers,
      ...following.map((projection) => projectionWorker(platform, projection)),
    ],
  }
}

/** The handlers of domain events, in the order in which they run. */
function subscribe(platform: Platform, parts: Omit<Parameters<typeof cancelForOptOut>[0], 'platform'>): void {
  const { domain_events } = platform
  // before messages are refunded: recipients and runs are locked before wallets
  domain_events.on('opted_out', leaveOutUnsubscribed)
  domain_events.on('opted_out', skipUnsubscribedRuns)
  domain_events.on('contact_deleted', leaveOutDeleted)
  domain_events.on('contact_deleted', skipRunsOfContacts)
  domain_events.on('channel_deleted', pauseOfChannel(platform))
  domain_events.on('channel_deleted', cancelRunsOfChannels)
  // campaigns are locked before jobs of messages
  domain_events.on('channel_deleted', failOfChannel(platform))
  domain_events.on('channel_deleted', failWaiting(platform))
  domain_events.on('account_suspended', failOfAccount(platform))
  domain_events.on('account_suspended', cancelRunsOfAccounts)
  domain_events.on('inbound_stored', keepConversations)
  domain_events.on('contact_deleted', forgetContacts)
  domain_events.on('opted_out', cancelForOptOut({ platform, ...parts }))
  domain_events.on('balance_low', mailOfLowBalance(platform))
  domain_events.on('endpoint_disabled', mailOfDisabledEndpoint(platform))
  domain_events.freeze()
}

const routesOf = (
  platform: Platform,
  { accounts, billing, channels, contacts, imports, messages, webhooks, feed, campaigns, integrations }: Services,
): Route[] => [
  ...accountRoutes(accounts),
  ...billingRoutes(billing),
  ...channelRoutes(channels),
  ...contactRoutes(contacts),
  ...listRoutes(contacts.lists),
  ...segmentRoutes(contacts.segments),
  ...importRoutes(imports),
  ...exportRoutes(exportService(platform, contacts)),
  ...messageRoutes(messages, platform.settings.base_url),
  ...webhookRoutes(webhooks),
  ...feedRoutes(feed),
  ...campaignRoutes(campaigns),
  ...integrationRoutes(integrations),
]

const periodicJobsOf = (
  platform: Platform,
  { billing, channels, media, contacts, imports, campaigns, operators }: Services,
): PeriodicJob[] => [
  ...platformPeriodicJobs(platform),
  ...billingPeriodicJobs(platform, billing),
  ...messagePeriodicJobs(platform, channels),
  ...channelPeriodicJobs(platform),
  ...media.periodicJobs,
  ...contacts.periodicJobs,
  ...imports.periodicJobs,
  ...webhookPeriodicJobs(platform),
  ...campaigns.periodicJobs,
  ...integrationPeriodicJobs(platform, contacts),
  ...operators.periodicJobs,
]

const invariantsOf = (platform: Platform, projections: Projections, { media }: Services): Invariant[] => [
  ...billingInvariants,
  ...contactInvariants(platform),
  ...importInvariants,
  ...media.invariants,
  ...messageInvariants(projections.pairs.map(({ projection }) => projection)),
  ...webhookInvariants(platform),
  ...campaignInvariants,
  ...integrationInvariants(platform),
]

export function buildApp(parts: AppParts): App {
  const { pool, clock } = parts
  const wanted = parts.roles ?? roles
  const ids = parts.ids ?? idMaker(clock)
  const process_id = parts.process_id ?? `${hostname()}.${process.pid}.${ids('req').slice(-8)}`
  const notifications = notifier(pool, process_id, () => present.alone())
  const platform = makePlatform(parts, ids, process_id, notifications)
  const present = presence(platform, {
    makeRoom: () => features.dispatch.persistSends(),
    wakePeers: () => notifications.notify('heartbeat'),
  })
  const features = compose(platform, parts, wanted.includes('worker'), () => present.alone())
  const { services } = features
  const routes = routesOf(platform, services)
  const periodicJobs = periodicJobsOf(platform, services)
  const limiter = parts.limiter ?? processRateLimiter(clock)
  let stopping = false
  const connections = new Connections(platform)
  const server = serverOf(
    platform,
    features,
    connections,
    limiter,
    wanted.includes('api') ? routes : [],
    () => stopping,
  )
  const loops = loopsOf(platform, features.workers, services.operators.workers, periodicJobs, wanted, present)
  listenTo(notifications, services, loops)
  const work = working(features, loops, wanted, notifications, present)
  const workers = [...loops.everywhere, ...loops.workers]
  return {
    platform,
    server,
    routes,
    consoleRoutes: operatorRoutes({ platform, ...services, ...services.operators }),
    services,
    hasConsole: hasConsole(),
    ingest: features.ingest,
    workers,
    periodicJobs,
    invariants: invariantsOf(platform, features.projections, services),
    worker(name) {
      const found = workers.find((worker) => worker.name === name)
      if (found === undefined)
        throw new Error(`no worker is called ${name}; there are ${workers.map((worker) => worker.name).join(', ')}`)
      return found
    },
    presence: present,
    flush: () => notifications.flush(),
    start: work.start,
    async stop() {
      stopping = true
      services.operators.streams.close()
      await work.stop(platform, async () => {
        await stopListening(server.server, connections, clock)
        await server.close()
      })
      await Promise.all([limiter.close(), platform.reads.close(), platform.tracing.stop()])
    },
    giveUp: work.giveUp,
  }
}

/** Without routes: a process that only works shows its health and figures, nothing else. */
function serverOf(
  platform: Platform,
  { services, callbacks }: Pick<ReturnType<typeof compose>, 'services' | 'callbacks'>,
  connections: Connections,
  limiter: RateLimiter,
  routes: readonly Route[],
  isStopping: () => boolean,
): FastifyInstance {
  const bodies = bodyRoom()
  const { accounts, integrations } = services
  const findKey = (text: string) => (isSourceKeyText(text) ? integrations.findKey(text) : accounts.findKey(text))
  const guards = consoleGuards({ platform, ...services, limiter, routes })
  const server = makeServer({
    platform,
    findKey,
    limiter,
    routes,
    guards,
    flights: inFlight(),
    bodies,
    connections,
    note: services.operators.requests.note,
    recorderOf: services.operators.recorderOf,
  })
  if (routes.length > 0) {
    mountPages(
      server,
      routes,
      () => operatorRoutes({ platform, ...services, ...services.operators }),
      platform.settings.base_url,
    )
    mountFiles(server, '/media/:id', services.media.open)
    mountHooks(server, '/hooks/channels/:id', bodies, (channel_id, call, readBody) =>
      takeCallback(callbacks, channel_id, call, readBody),
    )
    mountHooks(server, '/hooks/payments/:id', bodies, takePayment(services.billing.topUps))
  }
  mountOperatorPages(server, platform, isStopping)
  return server
}

/** What is heard from other processes, and of this one. */
function listenTo(
  notifications: Notifier,
  { accounts, channels, integrations }: Services,
  { everywhere, workers }: Loops,
): void {
  for (const worker of [...everywhere, ...workers]) notifications.on(worker.name, () => worker.wake())
  const forgetKeys = () => {
    accounts.forgetKeys()
    integrations.forgetKeys()
  }
  notifications.on('forget-keys', forgetKeys)
  notifications.on('forget-channels', () => channels.forget())
  notifications.onMissed(() => {
    forgetKeys()
    channels.forget()
    for (const worker of workers) worker.wake()
  })
}
