/** The interface through which each part of the product registers itself: its tables, routes, workers, periodic jobs, invariants and event handlers. */
import type { FastifyInstance } from 'fastify'
import type { DomainEventType } from './api/domain-events.ts'
import type { Tables } from './platform/database/table-scope.ts'
import type { DomainEventHandler } from './platform/events/domain-events.ts'
import type { FindKey } from './platform/http/auth.ts'
import type { BodyBudget } from './platform/http/body.ts'
import type { Guard } from './platform/http/guard.ts'
import type { RateLimiter } from './platform/http/rate-limit.ts'
import type { RecorderOf } from './platform/http/audit-hook.ts'
import type { NoteAnswer } from './platform/http/request-log.ts'
import type { Route } from './platform/http/route.ts'
import type { Worker } from './platform/jobs/worker.ts'
import type { Invariant, PeriodicJob, Platform, Role } from './platform/platform.ts'

/**
 * Extension points: each is declared by the module that reads it (`declare module`), and filled by the modules that name it in `contributions`. A contribution is
 * data, so a module may extend one that is built before it.
 */
// oxlint-disable-next-line no-empty-interface, typescript/no-empty-object-type
export interface Contributions {}

export type AllContributions = { readonly [Point in keyof Contributions]: readonly Contributions[Point][] }

/** What a module is built with, besides the services of the modules before it. */
export interface ModuleContext {
  readonly platform: Platform
  readonly roles: readonly Role[]
  /** True while no other process of the installation answers requests or runs workers. */
  readonly alone: () => boolean
  readonly contributions: AllContributions
}

/** A module: static data, and a function that builds its running parts from the services of earlier modules. Adding one is a line in `app.ts`. */
export interface Module<Needs = never, Services extends object = object> {
  readonly name: string
  readonly tables: Tables
  readonly contributions?: Partial<AllContributions>
  readonly build: (context: ModuleContext, services: Needs) => ModuleParts<Services>
}

/** The phases in which a process stops: no more requests, no more new messages, no more sending, no more connections. */
export const stopPhases = ['requests', 'producers', 'dispatch', 'connections'] as const
export type StopPhase = (typeof stopPhases)[number]

export interface ModuleParts<Services extends object = object> {
  /** Offered to later modules, the command line and tests. */
  readonly services: Services
  /** Operations under `/v1`. */
  readonly routes?: readonly Route[]
  /** Operations under `/console/api`, besides those of `/v1`. */
  readonly consoleRoutes?: readonly Route[]
  /** Other ways into the routes than an API key; `routes` are those of all modules. */
  readonly guards?: (limiter: RateLimiter, routes: readonly Route[]) => readonly Guard[]
  /** Finds the caller of a key. Returns null at once for a text that has the shape of another module's keys. */
  readonly findKey?: FindKey
  /** Called after every answer. */
  readonly noteAnswer?: NoteAnswer
  /** Audits changes made with API keys. */
  readonly recorderOf?: RecorderOf
  /** Mounts paths outside of `/v1` and `/console`. */
  readonly mount?: (server: FastifyInstance, bodies: BodyBudget) => void
  /** Run by processes with the role `worker`. */
  readonly workers?: readonly Worker[]
  /** Run by processes with the role `api`. */
  readonly apiWorkers?: readonly Worker[]
  readonly periodicJobs?: readonly PeriodicJob[]
  /** Checked by `posthorn doctor`. */
  readonly invariants?: readonly Invariant[]
  readonly handlers?: readonly EventHandler[]
  /** Caches to empty when another process sends the notification of this name, or when one may have been missed. */
  readonly caches?: Readonly<Record<string, () => void>>
  /** Writes to the database what only this process knows, before a second process begins to work. */
  readonly beforeSharing?: () => Promise<unknown>
  /** Called before any worker runs. */
  readonly start?: () => Promise<unknown>
  /** Within a phase later modules stop first. */
  readonly stop?: Readonly<Partial<Record<StopPhase, () => unknown>>>
}

/**
 * The order in which the handlers of one domain event run: the order in which every transaction locks these rows. Two transactions that lock in different
 * orders can deadlock.
 */
const lockOrder = ['campaigns', 'automations', 'messages', 'conversations', 'emails'] as const
export type LockRank = (typeof lockOrder)[number]

export interface EventHandler {
  readonly event: DomainEventType
  readonly locks: LockRank
  readonly handle: DomainEventHandler<DomainEventType>
}

/** Declares a handler: it runs inside the transaction that publishes the event. Handlers of one rank run in the order in which their module lists them. */
export const on = <T extends DomainEventType>(
  event: T,
  locks: LockRank,
  handle: DomainEventHandler<T>,
): EventHandler => ({
  event,
  locks,
  handle: handle as unknown as DomainEventHandler<DomainEventType>,
})

/** Merges what the modules contribute to each extension point, then `more`, which names every point. */
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

/** Builds the modules in their order; `given` are services of modules that are not among them. */
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

/** Subscribes the handlers of all modules by lock order. */
function subscribe({ domain_events }: Platform, built: readonly BuiltModule[]): void {
  const handlers = built.flatMap((module) => module.handlers ?? [])
  for (const rank of lockOrder)
    for (const { event, locks, handle } of handlers) if (locks === rank) domain_events.on(event, handle)
  domain_events.freeze()
}

/** The tables of all modules. */
export const tablesOf = (modules: readonly Pick<Module, 'tables'>[]): Tables =>
  Object.assign({}, ...modules.map(({ tables }) => tables)) as Tables
