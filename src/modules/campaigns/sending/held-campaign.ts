/** What a process remembers of a campaign that it sends: its pace, when it is looked at next, and whom it has set aside. All times are elapsed ones. */
import type { CampaignDeps } from '../deps.ts'
import type { Job } from '../job-store.ts'
import type { MessagingLimits } from '../messaging-limit.ts'
import type { Demand } from './fair-shares.ts'
import { Pacer } from './pacer.ts'
import type { Recipients } from './recipients.ts'
import { SetAside } from './set-aside.ts'
import type { WindowTable } from './windows.ts'

/** What a process that sends campaigns remembers. */
export interface Sending {
  readonly deps: CampaignDeps
  readonly held: Map<string, HeldCampaign>
  readonly windows: WindowTable
  readonly limits: MessagingLimits
  readonly recipients: Recipients
}

/** Between two looks at a campaign whose messages are on their way alone: doubling to this. */
const restMaxMs = 2000
const restMinMs = 200

export class HeldCampaign {
  job: Job
  readonly pacer: Pacer
  readonly aside = new SetAside()
  /** Numbers of those whose own message is not paid for: the others go first, then the campaign is paused. */
  readonly unfunded = new Set<number>()
  /** Null: nothing at the moment. */
  demand: Demand | null = null
  /** It is not looked at before, in milliseconds. */
  look_ms: number
  #underWay = 0
  #restMs = restMinMs

  constructor(job: Job, now: number) {
    this.job = job
    this.pacer = new Pacer(now)
    this.look_ms = now
  }

  /** It is still this process's work. */
  stillHeld(job: Job, now: number): void {
    this.job = job
    if (job.changed) this.look_ms = now
  }

  /** Nothing can be done before something of what is under way has gone: it is looked at more and more rarely, until that changes. */
  rest(now: number, under_way: number): void {
    this.#restMs = under_way === this.#underWay ? Math.min(restMaxMs, this.#restMs * 2) : restMinMs
    this.#underWay = under_way
    this.look_ms = now + this.#restMs
  }
}
