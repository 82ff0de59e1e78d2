/** Runs that wait of what is stopped: a change, a suspension or a deletion cancels most of them, and whatever is left, because they are many or a process died, is cancelled here. */
import type { PeriodicJob, Platform } from '../../../platform/platform.ts'
import { cancelStopped, listStopped } from './due-store.ts'

const automationsAtOnce = 100
const runsAtOnce = 1000

export const cancellingLeftovers = ({ pool }: Pick<Platform, 'pool'>): PeriodicJob => ({
  name: 'runs of what is stopped',
  every_ms: 10_000,
  async run() {
    let cancelled = 0
    for (const automation of await listStopped(pool, automationsAtOnce)) {
      for (let some = runsAtOnce; some === runsAtOnce; cancelled += some)
        some = await cancelStopped(pool, automation, runsAtOnce)
    }
    return cancelled
  },
})
