/** Reports that come a moment later (the simulator's) are applied when they are due, without polling for them all the time. */
import { setMaxListeners } from 'node:events'
import type { Platform } from '../../../platform/platform.ts'
import type { Completion } from '../dispatch/completion.ts'

export interface ReportWakes {
  /** Wakes the worker `reports` when what came with these answers is due. */
  plan(batch: readonly Completion[]): void
  stop(): void
}

/** Wakes are told apart by so much. */
const stepMs = 20

export function reportWakes({ clock, notify }: Pick<Platform, 'clock' | 'notify'>): ReportWakes {
  const stopped = new AbortController()
  setMaxListeners(0, stopped.signal)
  const planned = new Set<number>()
  return {
    plan(batch) {
      for (const { outcome, at_ms } of batch) {
        if (outcome.kind !== 'accepted') continue
        for (const { after_ms } of outcome.later_items ?? []) {
          const due_ms = Math.ceil((at_ms + after_ms) / stepMs) * stepMs
          if (after_ms === 0 || planned.has(due_ms)) continue
          planned.add(due_ms)
          void clock.sleep(due_ms - clock.now(), stopped.signal).then(() => {
            planned.delete(due_ms)
            if (!stopped.signal.aborted) notify('reports')
          })
        }
      }
    },
    stop: () => stopped.abort(),
  }
}
