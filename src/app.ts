/** The composition root: lists the modules of the product, builds them, and starts and stops them by phase. */
import type { FastifyInstance } from 'fastify'
import { hostname } from 'node:os'
import { idMaker, type IdMaker } from './lib/ids.ts'
import { lifecycle, type Lifecycle } from './lifecycle.ts'
import { buildModules, contributionsOf, tablesOf, type AllContributions, type Module } from './module.ts'
import { accountsModule } from './modules/accounts/module.ts'
import { automationsModule } from './modules/automations/module.ts'
import { billingModule } from './modules/billing/module.ts'
import { campaignsModule } from './modules/campaigns/module.ts'
import { channelsModule } from './modules/channels/module.ts'
import { consoleModule } from './modules/console/module.ts'
import { contactsModule } from './modules/contacts/module.ts'
import { mailModule } from './modules/mail/module.ts'
import { mediaModule } from './modules/media/module.ts'
import { messagesModule } from './modules/messages/module.ts'
import { webhooksModule } from './modules/webhooks/module.ts'
import { Connections } from './platform/http/connections.ts'
import { processRateLimiter, type RateLimiter } from './platform/http/rate-limit.ts'
import type { Route } from './platform/http/route.ts'
import { stopListening } from './platform/http/shutdown.ts'
import { notificationsOf } from './platform/jobs/notifications.ts'
import { processRegistry, type ProcessRegistry } from './platform/jobs/process-registry.ts'
import type { Loop } from './platform/jobs/worker.ts'
import { loopsOf, wakeBy } from './platform/jobs/runner.ts'
import { makePlatform, platformModule, type PlatformParts } from './platform-module.ts'
import { roles, type Invariant, type PeriodicJob, type Platform, type Role } from './platform/platform.ts'
import { consoleRoutesOf, hasConsole, httpServer, routesOf } from './server.ts'

/** Each module uses only services of earlier ones. */
export const modules = [
  platformModule,
  accountsModule,
  mailModule,
  billingModule,
  channelsModule,
  mediaModule,
  contactsModule,
  messagesModule,
  webhooksModule,
  campaignsModule,
  automationsModule,
  consoleModule,
] as const

export const tables = tablesOf(modules)

type ServicesOf<M> = (M extends Module<never, infer S> ? (each: S) => void : never) extends (all: infer All) => void
  ? All
  : never
export type Services = ServicesOf<(typeof modules)[number]>

/** Absent parts get their production value. */
export interface AppParts extends PlatformParts, Partial<AllContributions> {
  readonly ids?: IdMaker
  readonly process_id?: string
  readonly roles?: readonly Role[]
  /** Without it limits apply to this process. */
  readonly limiter?: RateLimiter
}

export interface App extends Pick<Lifecycle, 'start' | 'abandon'> {
  readonly platform: Platform
  readonly server: FastifyInstance
  readonly routes: readonly Route[]
  /** Besides those of `/v1`. */
  readonly consoleRoutes: readonly Route[]
  readonly services: Services
  readonly hasConsole: boolean
  /** Including those that the roles do not run, for tests. */
  readonly workers: readonly Loop[]
  readonly periodicJobs: readonly PeriodicJob[]
  readonly invariants: readonly Invariant[]
  worker(name: string): Loop
  readonly processes: ProcessRegistry
  /** For commands, which do not `start`. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** The caller listens (`server.listen`) and starts it. */
export function buildApp(parts: AppParts): App {
  const { pool, clock, ids = idMaker(parts.clock), limiter = processRateLimiter(parts.clock) } = parts
  const wanted = parts.roles ?? roles
  const process_id = parts.process_id ?? `${hostname()}.${process.pid}.${ids('req').slice(-8)}`
  const alone = () => processes.alone()
  const notifications = notificationsOf(pool, process_id, alone)
  const platform = makePlatform(parts, ids, process_id, notifications)
  const processes = processRegistry(platform, {
    beforeSharing: async () => void (await Promise.all(built.map(async (module) => await module.beforeSharing?.()))),
    wakePeers: () => notifications.notify('heartbeat'),
  })
  const { providers = [], producers = [], projections = [], sendTimes = [] } = parts
  const contributions = contributionsOf(modules, { providers, producers, projections, sendTimes })
  const { built, services } = buildModules(modules, { platform, roles: wanted, alone, contributions })
  let stopping = false
  const connections = new Connections(platform)
  const isStopping = () => stopping
  const servesApi = wanted.includes('api')
  const server = httpServer({ platform, modules: built, connections, limiter, servesApi, isStopping })
  const periodicJobs = built.flatMap((module) => module.periodicJobs ?? [])
  const loops = loopsOf(platform, built, periodicJobs, wanted, processes)
  wakeBy(notifications, built, loops)
  const life = lifecycle({ platform, modules: built, loops, roles: wanted, notifications, processes })
  const workers = [...loops.everywhere, ...loops.workers]
  return {
    platform,
    server,
    routes: routesOf(built),
    consoleRoutes: consoleRoutesOf(built),
    services: services as Services,
    hasConsole: hasConsole(),
    workers,
    periodicJobs,
    invariants: built.flatMap((module) => module.invariants ?? []),
    worker(name) {
      const found = workers.find((worker) => worker.name === name)
      if (found === undefined)
        throw new Error(`no worker is named ${name}; there are ${workers.map((worker) => worker.name).join(', ')}`)
      return found
    },
    processes,
    flush: () => notifications.flush(),
    start: life.start,
    abandon: life.abandon,
    async stop() {
      stopping = true
      await life.stop(async () => {
        await stopListening(server.server, connections, clock)
        await server.close()
      })
      await Promise.all([limiter.close(), platform.reads.close(), platform.tracing.stop()])
    },
  }
}
