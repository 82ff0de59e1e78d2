/** The state of each campaign that a process sends. Times are elapsed milliseconds. */
import type { CampaignDeps } from '../deps.ts'
import type { Job } from '../job-repository.ts'
import type { MessagingLimits } from '../messaging-limit.ts'
import { type Demand, Pacer, DeferredRecipients } from './pacing.ts'
import type { RecipientLoader } from './recipient-loader.ts'
import type { WindowTable } from './send-windows.ts'

export interface SenderState {
  readonly deps: CampaignDeps
  readonly active: Map<string, ActiveCampaign>
  readonly windows: WindowTable
  readonly limits: MessagingLimits
  readonly recipients: RecipientLoader
  /** Of messages that are being rendered and accepted. */
  characters: number
}

/** While only messages in flight are left, the delay doubles up to this. */
const pollDelayMaxMs = 2000
const pollDelayMinMs = 200

export class ActiveCampaign {
  job: Job
  readonly pacer: Pacer
  readonly deferred = new DeferredRecipients()
  /** Recipients whose message cannot be paid for: the others are sent first, then the campaign is paused. */
  readonly unfunded = new Set<number>()
  demand: Demand | null = null
  next_poll_ms: number
  #inFlight = 0
  #delayMs = pollDelayMinMs

  constructor(job: Job, now: number) {
    this.job = job
    this.pacer = new Pacer(now)
    this.next_poll_ms = now
  }

  renew(job: Job, now: number): void {
    this.job = job
    if (job.changed) this.next_poll_ms = now
  }

  /** Polls less often until the number of messages in flight changes. */
  backOff(now: number, in_flight: number): void {
    this.#delayMs = in_flight === this.#inFlight ? Math.min(pollDelayMaxMs, this.#delayMs * 2) : pollDelayMinMs
    this.#inFlight = in_flight
    this.next_poll_ms = now + this.#delayMs
  }
}
