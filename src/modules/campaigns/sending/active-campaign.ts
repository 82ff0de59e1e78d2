/** What a process remembers of a campaign that it sends: its pace, when it is looked at next, and whom it has set aside. All times are elapsed ones. */
import type { CampaignDeps } from '../deps.ts'
import type { Job } from '../job-repository.ts'
import type { MessagingLimits } from '../messaging-limit.ts'
import { type Demand, Pacer, DeferredRecipients } from './pacing.ts'
import type { RecipientLoader } from './recipient-loader.ts'
import type { WindowTable } from './send-windows.ts'

/** What a process that sends campaigns remembers. */
export interface SenderState {
  readonly deps: CampaignDeps
  readonly active: Map<string, ActiveCampaign>
  readonly windows: WindowTable
  readonly limits: MessagingLimits
  readonly recipients: RecipientLoader
}

/** Between two looks at a campaign whose messages are on their way alone: doubling to this. */
const pollDelayMaxMs = 2000
const pollDelayMinMs = 200

export class ActiveCampaign {
  job: Job
  readonly pacer: Pacer
  readonly deferred = new DeferredRecipients()
  /** Numbers of those whose own message is not paid for: the others go first, then the campaign is paused. */
  readonly unfunded = new Set<number>()
  /** Null: nothing at the moment. */
  demand: Demand | null = null
  /** It is not looked at before, in milliseconds. */
  next_poll_ms: number
  #countedInFlight = 0
  #restMs = pollDelayMinMs

  constructor(job: Job, now: number) {
    this.job = job
    this.pacer = new Pacer(now)
    this.next_poll_ms = now
  }

  /** It is still this process's work. */
  renew(job: Job, now: number): void {
    this.job = job
    if (job.changed) this.next_poll_ms = now
  }

  /** Nothing can be done before something of what is under way has gone: it is looked at more and more rarely, until that changes. */
  rest(now: number, in_flight: number): void {
    this.#restMs = in_flight === this.#countedInFlight ? Math.min(pollDelayMaxMs, this.#restMs * 2) : pollDelayMinMs
    this.#countedInFlight = in_flight
    this.next_poll_ms = now + this.#restMs
  }
}
