/**
 * Wires the worker `dispatch`: a scheduler claims jobs, an executor makes send attempts, a completer writes outcomes.
 */
import type { Worker } from '../../../platform/jobs/worker.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { ChannelService } from '../../channels/service.ts'
import type { MemoryQueue } from '../accept/row.ts'
import type { TransitionDeps } from '../transitions.ts'
import { circuitBreakers } from './circuit-breakers.ts'
import { completer, type Completer } from './completer.ts'
import { consentRecheck, type ConsentRecheck } from './consent.ts'
import { executor, type Executor } from './executor.ts'
import { type InProgress, inProgress, type Withdrawing } from './in-progress.ts'
import { channelLeases } from './leases.ts'
import { linksWorker } from './links.ts'
import { pauses } from './pauses.ts'
import type { ProviderIdCache } from './provider-id-cache.ts'
import { channelRates } from './rates.ts'
import { leaseMs, scheduler, type Scheduler } from './scheduler.ts'
import { type SendTimes, type Sessions, sessionsOf } from './job.ts'
import { rescuer, type Rescuer } from './rescue.ts'

export interface DispatcherDeps extends TransitionDeps {
  readonly channels: ChannelService
  readonly providerIds: ProviderIdCache
  readonly findSession: Sessions['find']
  readonly sendTimes: readonly SendTimes[]
  readonly inMemory: boolean
  readonly alone: () => boolean
}

export interface Dispatcher extends MemoryQueue, Withdrawing, Pick<ConsentRecheck, 'recheck'> {
  readonly workers: readonly Worker[]
  persistSends(): Promise<void>
  /** Before messages of dead processes can be cancelled. */
  rescue(): Promise<void>
  /** Finishes attempts in progress; releases other jobs without counting an attempt. */
  stop(): Promise<void>
}

const runMaxMs = 50
/** Longer attempts are written as `sending`. */
const persistAfterMs = 300

export function dispatcher(deps: DispatcherDeps): Dispatcher {
  const { platform, channels } = deps
  const { clock, process_id } = platform
  const jobs = inProgress()
  const leases = channelLeases(platform)
  const rates = channelRates()
  channels.onForget(rates.forget)
  const breakers = circuitBreakers(platform)
  const sessions = sessionsOf(deps.findSession)
  const channelPauses = pauses({ platform, circuitBreakers: breakers, rates })
  const consent = consentRecheck(platform, channels)
  const completing = completer({ ...deps, jobs })
  const shared = { ...deps, jobs, leases, rates, circuitBreakers: breakers, pauses: channelPauses, sessions }
  const executing = executor({ ...shared, consent, complete: completing.complete })
  const scheduling = scheduler({ ...shared, expire: executing.expire, setAside: executing.setAside })
  const rescuing = rescuer({ ...deps, scheduling, leases })

  return {
    workers: [
      dispatchWorker(platform, jobs, { rescuing, executing, scheduling, completing }),
      linksWorker({ platform, channels, circuitBreakers: breakers, jobs, leases, sessions }),
    ],
    process_id,
    lease_ms: leaseMs,
    accepts: scheduling.accepts,
    offer: scheduling.offer,
    withdraw: (message_ids) => jobs.withdraw(message_ids, clock.elapsed()),
    recheck: consent.recheck,
    persistSends: () => executing.persistSends(Infinity),
    rescue: rescuing.rescueAll,
    async stop() {
      await scheduling.stop()
      completing.stop()
      await executing.finished()
      await completing.drained()
      await leases.release()
    },
  }
}

interface Stages {
  readonly rescuing: Rescuer
  readonly executing: Executor
  readonly scheduling: Scheduler
  readonly completing: Completer
}

const dispatchWorker = (
  { clock }: Platform,
  jobs: InProgress,
  { rescuing, executing, scheduling, completing }: Stages,
): Worker => ({
  name: 'dispatch',
  poll_every_ms: 500,
  async tick() {
    const rescued = await rescuing.rescueIfDue()
    await executing.persistSends(clock.now() - persistAfterMs)
    const claimed = await scheduling.claim()
    const ready = scheduling.ready()
    if (ready.length === 0 && jobs.size === 0) return rescued + claimed
    const work = ready.length === 0 ? completing.drained() : executing.sendAll(ready).then(() => completing.drained())
    // slow attempts continue during the next run
    await Promise.race([work, clock.sleep(runMaxMs)])
    return rescued + (ready.length === 0 ? claimed : ready.length)
  },
})
