/** The composition root: the only file that knows every feature. Builds them, subscribes their reactions, and freezes. */
import type { FastifyInstance } from 'fastify'
import { hostname } from 'node:os'
import { accountRoutes } from './modules/accounts/routes.ts'
import { accountService, isSourceKeyText } from './modules/accounts/service.ts'
import { billingInvariants } from './modules/billing/invariants.ts'
import { billingRoutes } from './modules/billing/routes.ts'
import { billingService } from './modules/billing/service.ts'
import { takePayment } from './modules/billing/top-ups/payment-hook.ts'
import { billingChores } from './modules/billing/worker.ts'
import { channelRoutes } from './modules/channels/routes.ts'
import type { Provider } from './providers/provider.ts'
import { channelService } from './modules/channels/service.ts'
import { channelSessions } from './modules/channels/sessions.ts'
import { channelChores, channelLanes } from './modules/channels/worker.ts'
import { campaignFollower } from './modules/campaigns/follower.ts'
import { campaignSubmitter } from './modules/campaigns/submitter.ts'
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
import { importsLane } from './modules/contacts/imports/worker.ts'
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
import { automationSubmitter } from './modules/automations/runs/submitter.ts'
import { integrationRoutes } from './modules/automations/routes.ts'
import { integrationService } from './modules/automations/service.ts'
import { integrationChores } from './modules/automations/worker.ts'
import { forgetContacts, keepConversations } from './modules/console/conversations/conversations.ts'
import { operatorRoutes } from './modules/console/routes.ts'
import { consoleDoors } from './modules/console/doors.ts'
import { mailOfDisabledEndpoint } from './modules/console/account/disabled-endpoint.ts'
import { mailOfLowBalance } from './modules/console/account/low-balance.ts'
import { operatorService } from './modules/console/service.ts'
import { mailLane } from './modules/mail/service.ts'
import { mediaService } from './modules/media/service.ts'
import { keepTold, takeCallback } from './modules/messages/reports/callbacks.ts'
import { groupCommit, type Ingest } from './modules/messages/ingest/group-commit.ts'
import { submittersOf, type SubmitterFragment } from './modules/messages/ingest/submitters.ts'
import { failWaiting } from './modules/messages/dispatch/paused-queues.ts'
import { messageInvariants } from './modules/messages/invariants.ts'
import { cancelForOptOut } from './modules/messages/inbound/opt-out.ts'
import { queueBound } from './modules/messages/ingest/queue-bound.ts'
import { messageChores } from './modules/messages/chores.ts'
import { providerIdCache } from './modules/messages/dispatch/provider-ids.ts'
import { reportLanes } from './modules/messages/reports/reports.ts'
import { messageRoutes } from './modules/messages/routes.ts'
import { messageService } from './modules/messages/service.ts'
import { followerLane, followersOf, type Follower, type Followers } from './modules/messages/transitions/followers.ts'
import { dispatcher } from './modules/messages/dispatch/dispatcher.ts'
import { feedRoutes } from './modules/webhooks/feed/routes.ts'
import { feedService } from './modules/webhooks/feed/service.ts'
import { webhookInvariants } from './modules/webhooks/invariants.ts'
import { webhookRoutes } from './modules/webhooks/routes.ts'
import { webhookService } from './modules/webhooks/service.ts'
import { fanOutLane } from './modules/webhooks/fan-out/fan-out.ts'
import { webhookChores, webhookDeliverer } from './modules/webhooks/worker.ts'
import { idMaker, type IdMaker } from './lib/ids.ts'
import type { Loop } from './platform/jobs/worker.ts'
import { loopsOf, type Loops } from './platform/jobs/workers-of-process.ts'
import { hasConsole, mountPages } from './pages.ts'
import { working } from './working.ts'
import { notifier, type Notifier } from './platform/jobs/notifier.ts'
import { platformChores } from './platform/jobs/periodic-jobs.ts'
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
import { roles, type Chore, type Invariant, type Platform, type Role } from './platform/platform.ts'
import { presence, type Presence } from './platform/jobs/process-registry.ts'

/** Who submits messages for rows of its own, beside requests: a line each, and nobody else (docs/decisions/submitting.md). */
const productSubmitters: readonly SubmitterFragment[] = [campaignSubmitter, automationSubmitter]

/** Who counts or continues by what becomes of messages: a line each (docs/decisions/transitions.md). */
const productFollowers: readonly Follower[] = [campaignFollower]

/** What an app is made of; what is left out gets its production value. */
export interface AppParts extends PlatformParts {
  readonly ids?: IdMaker
  readonly process_id?: string
  readonly roles?: readonly Role[]
  /** Shared rate limits; absent: limits of this process. */
  readonly limiter?: RateLimiter
  /** Those of tests and benchmarks, beside the product's. */
  readonly followers?: readonly Follower[]
  /** As `followers`. */
  readonly submitters?: readonly SubmitterFragment[]
  /** As `followers`. */
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
  /** Every lane, also without the role `worker`: tests `tick` them by hand. */
  readonly lanes: readonly Loop[]
  readonly chores: readonly Chore[]
  readonly invariants: readonly Invariant[]
  /** The lane of this name. */
  lane(name: string): Loop
  /** Whether other processes live; `start` takes part. */
  readonly presence: Presence
  /** Tells running processes what has changed here; for commands, which do not `start`. */
  flush(): Promise<void>
  /** Hears other processes, and runs the lanes of its roles. Listening is the caller's: `server.listen`. */
  start(): Promise<void>
  /** Finishes what is in hand: requests, then lanes. */
  stop(): Promise<void>
  /** Ends the lanes of a `stop` that takes too long; resolves once their passes in hand are done. What they worked on is taken up by whoever comes next. */
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
  const following = [...productFollowers, ...(parts.followers ?? [])]
  const submitters = submittersOf([...productSubmitters, ...(parts.submitters ?? [])])
  const followers = followersOf(platform, following)
  const providerIds = providerIdCache()
  const callbacks = { platform, channels, providerIds }
  const sessions = channelSessions(platform, channels, keepTold(callbacks))
  const sendTimes = [campaignSendTimes(platform)]
  const dispatch = dispatcher({
    platform,
    billing,
    channels,
    followers,
    providerIds,
    findSession: sessions.find,
    sendTimes,
    inMemory: dispatches,
    alone,
  })
  const ingest = groupCommit({
    platform,
    billing,
    followers,
    submitters,
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
    followers,
  })
  const webhooks = webhookService(platform)
  const campaigns = campaignService({ platform, accounts, billing, channels, contacts, messages })
  const integrations = integrationService({ platform, accounts, channels, contacts, messages, alone })
  const feed = feedService(platform)
  const operators = operatorService(platform, accounts, feed)
  const deliver = webhookDeliverer(platform, webhooks)
  subscribe(platform, { billing, followers, withdraw: dispatch.withdraw, recheck: dispatch.recheck })
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
    followers,
    lanes: [
      sessions.lane,
      ...dispatch.lanes,
      ...channelLanes(platform, channels),
      ...reportLanes({ platform, billing, followers, channels, media, contacts, providerIds }),
      media.lane,
      mailLane(platform),
      fanOutLane(platform, deliver.consumer),
      deliver.lane,
      importsLane(platform),
      ...campaigns.lanes,
      ...integrations.lanes,
      ...following.map((follower) => followerLane(platform, follower)),
    ],
  }
}

/** What one feature does about facts of another, in the order in which it is done. */
function subscribe(platform: Platform, parts: Omit<Parameters<typeof cancelForOptOut>[0], 'platform'>): void {
  const { reactions } = platform
  // before messages are refunded: recipients and runs are locked before wallets
  reactions.on('opted_out', leaveOutUnsubscribed)
  reactions.on('opted_out', skipUnsubscribedRuns)
  reactions.on('contact_deleted', leaveOutDeleted)
  reactions.on('contact_deleted', skipRunsOfContacts)
  reactions.on('channel_deleted', pauseOfChannel(platform))
  reactions.on('channel_deleted', cancelRunsOfChannels)
  // campaigns are locked before jobs of messages
  reactions.on('channel_deleted', failOfChannel(platform))
  reactions.on('channel_deleted', failWaiting(platform))
  reactions.on('account_suspended', failOfAccount(platform))
  reactions.on('account_suspended', cancelRunsOfAccounts)
  reactions.on('inbound_stored', keepConversations)
  reactions.on('contact_deleted', forgetContacts)
  reactions.on('opted_out', cancelForOptOut({ platform, ...parts }))
  reactions.on('balance_low', mailOfLowBalance(platform))
  reactions.on('endpoint_disabled', mailOfDisabledEndpoint(platform))
  reactions.freeze()
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

const choresOf = (
  platform: Platform,
  { billing, channels, media, contacts, imports, campaigns, operators }: Services,
): Chore[] => [
  ...platformChores(platform),
  ...billingChores(platform, billing),
  ...messageChores(platform, channels),
  ...channelChores(platform),
  ...media.chores,
  ...contacts.chores,
  ...imports.chores,
  ...webhookChores(platform),
  ...campaigns.chores,
  ...integrationChores(platform, contacts),
  ...operators.chores,
]

const invariantsOf = (platform: Platform, followers: Followers, { media }: Services): Invariant[] => [
  ...billingInvariants,
  ...contactInvariants(platform),
  ...importInvariants,
  ...media.invariants,
  ...messageInvariants(followers.pairs.map(({ follower }) => follower)),
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
  const chores = choresOf(platform, services)
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
  const loops = loopsOf(platform, features.lanes, services.operators.lanes, chores, wanted, present)
  listenTo(notifications, services, loops)
  const work = working(features, loops, wanted, notifications, present)
  const lanes = [...loops.everywhere, ...loops.workers]
  return {
    platform,
    server,
    routes,
    consoleRoutes: operatorRoutes({ platform, ...services, ...services.operators }),
    services,
    hasConsole: hasConsole(),
    ingest: features.ingest,
    lanes,
    chores,
    invariants: invariantsOf(platform, features.followers, services),
    lane(name) {
      const found = lanes.find((lane) => lane.name === name)
      if (found === undefined)
        throw new Error(`no lane is called ${name}; there are ${lanes.map((lane) => lane.name).join(', ')}`)
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
  const doors = consoleDoors({ platform, ...services, limiter, routes })
  const server = makeServer({
    platform,
    findKey,
    limiter,
    routes,
    doors,
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
  for (const lane of [...everywhere, ...workers]) notifications.on(lane.name, () => lane.wake())
  const forgetKeys = () => {
    accounts.forgetKeys()
    integrations.forgetKeys()
  }
  notifications.on('forget-keys', forgetKeys)
  notifications.on('forget-channels', () => channels.forget())
  notifications.onMissed(() => {
    forgetKeys()
    channels.forget()
    for (const lane of workers) lane.wake()
  })
}
