/** The interface of a module: tables, routes, workers, periodic jobs, invariants and event handlers. */
import type { FastifyInstance } from 'fastify'
import type { DomainEventType } from './api/domain-events.ts'
import type { Tables } from './platform/database/table-scope.ts'
import type { DomainEventHandler } from './platform/events/domain-events.ts'
import type { FindKey } from './platform/http/auth.ts'
import type { BodyBudget } from './platform/http/body-budget.ts'
import type { Guard } from './platform/http/guard.ts'
import type { RateLimiter } from './platform/http/rate-limit.ts'
import type { RecorderOf } from './platform/http/audit-hook.ts'
import type { NoteAnswer } from './platform/http/request-log.ts'
import type { Route } from './platform/http/route.ts'
import type { Worker } from './platform/jobs/worker.ts'
import type { Invariant, PeriodicJob, Platform, Role } from './platform/platform.ts'

/**
 * Extension points, declared by the module that reads them (`declare module`) and filled by the `contributions` of
 * others, even earlier ones.
 */
// oxlint-disable-next-line no-empty-interface, typescript/no-empty-object-type
export interface Contributions {}

export type AllContributions = { readonly [Point in keyof Contributions]: readonly Contributions[Point][] }

export interface ModuleContext {
  readonly platform: Platform
  readonly roles: readonly Role[]
  readonly alone: () => boolean
  readonly contributions: AllContributions
}

/** `build` creates the running parts from the services of earlier modules. Add a module in `app.ts`. */
export interface Module<Needs = never, Services extends object = object> {
  readonly name: string
  readonly tables: Tables
  readonly contributions?: Partial<AllContributions>
  readonly build: (context: ModuleContext, services: Needs) => ModuleParts<Services>
}

/** In this order: no more requests, new messages, send attempts, connections. */
export const stopPhases = ['requests', 'producers', 'dispatch', 'connections'] as const
export type StopPhase = (typeof stopPhases)[number]

export interface ModuleParts<Services extends object = object> {
  readonly services: Services
  readonly routes?: readonly Route[]
  readonly consoleRoutes?: readonly Route[]
  /** `routes`: of all modules. */
  readonly guards?: (limiter: RateLimiter, routes: readonly Route[]) => readonly Guard[]
  /** Returns null at once for keys of other modules. */
  readonly findKey?: FindKey
  readonly noteAnswer?: NoteAnswer
  readonly recorderOf?: RecorderOf
  readonly mount?: (server: FastifyInstance, bodies: BodyBudget) => void
  /** Only with the role `worker`. */
  readonly workers?: readonly Worker[]
  /** Only with the role `api`. */
  readonly apiWorkers?: readonly Worker[]
  readonly periodicJobs?: readonly PeriodicJob[]
  readonly invariants?: readonly Invariant[]
  readonly handlers?: readonly EventHandler[]
  /** Emptied by the notification of this name, or when one may have been missed. */
  readonly caches?: Readonly<Record<string, () => void>>
  /** Writes state that only this process has to the database, before a second process starts. */
  readonly beforeSharing?: () => Promise<unknown>
  /** Before any worker runs. */
  readonly start?: () => Promise<unknown>
  /** Within a phase later modules stop first. */
  readonly stop?: Readonly<Partial<Record<StopPhase, () => unknown>>>
}

/** The order in which handlers of one domain event run and lock rows. Another order can deadlock. */
const lockOrder = ['campaigns', 'automations', 'messages', 'conversations', 'emails'] as const
export type LockRank = (typeof lockOrder)[number]

export interface EventHandler {
  readonly event: DomainEventType
  readonly locks: LockRank
  readonly handle: DomainEventHandler<DomainEventType>
}

/** The handler runs inside the publishing transaction. */
export const on = <T extends DomainEventType>(
  event: T,
  locks: LockRank,
  handle: DomainEventHandler<T>,
): EventHandler => ({
  event,
  locks,
  handle: handle as unknown as DomainEventHandler<DomainEventType>,
})

/** `more` names every extension point. */
export function contributionsOf(
  modules: readonly Pick<Module, 'contributions'>[],
  more: AllContributions,
): AllContributions {
  const all: Record<string, unknown[]> = {}
  for (const given of [...modules.map(({ contributions }) => contributions ?? {}), more])
    for (const [point, values] of Object.entries(given as Record<string, readonly unknown[]>))
      (all[point] ??= []).push(...values)
  return all as unknown as AllContributions
}

export interface BuiltModule extends ModuleParts {
  readonly name: string
}

/** `given`: services of modules that are not in the list. */
export function buildModules(
  modules: readonly Module[],
  context: ModuleContext,
  given: object = {},
): { readonly built: readonly BuiltModule[]; readonly services: object } {
  const services = { ...given }
  const built = modules.map((module) => {
    const parts = module.build(context, services as never)
    Object.assign(services, parts.services)
    return { ...parts, name: module.name }
  })
  subscribe(context.platform, built)
  return { built, services }
}

function subscribe({ domain_events }: Platform, built: readonly BuiltModule[]): void {
  const handlers = built.flatMap((module) => module.handlers ?? [])
  for (const rank of lockOrder)
    for (const { event, locks, handle } of handlers) if (locks === rank) domain_events.on(event, handle)
  domain_events.freeze()
}

export const tablesOf = (modules: readonly Pick<Module, 'tables'>[]): Tables =>
  Object.assign({}, ...modules.map(({ tables }) => tables)) as Tables
