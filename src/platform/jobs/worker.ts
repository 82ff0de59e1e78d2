/** The loop that runs every worker: `tick()` for tests, `run(signal)` for production, `wake()` when there may be work. */
import { over, type Clock } from '../../lib/clock.ts'

export interface Worker {
  readonly name: string
  /** One poll; resolves to the number of jobs it worked on, 0 when there was nothing to do. A long one should end soon after `stopping` aborts. */
  tick(stopping?: AbortSignal): Promise<number>
  /** Milliseconds to wait when a poll found nothing; `wake` ends the wait. */
  readonly idle_ms: number
  /** Milliseconds between two polls even with work to do, so that work is done in larger batches. */
  readonly rest_ms?: number
}

export interface Loop {
  readonly name: string
  tick(): Promise<number>
  /** Polls until the signal aborts; resolves when the last poll has ended. Never rejects. */
  run(signal: AbortSignal): Promise<void>
  wake(): void
  /** Ends the backoff after failures, because their cause is gone. */
  retry(): void
}

/** `onError` is called for every failed poll; the loop then backs off, from 100 ms doubling to 5 s. */
export function loop(worker: Worker, clock: Clock, onError: (error: unknown, worker: string) => void): Loop {
  let woken = false
  let interrupt: AbortController | undefined
  let backingOff: AbortController | undefined
  /** Waits until woken or stopped. */
  const nap = async (ms: number, signal: AbortSignal) => {
    if (woken || signal.aborted) return
    interrupt = new AbortController()
    await clock.sleep(ms, interrupt.signal)
    interrupt = undefined
  }
  return {
    name: worker.name,
    tick: () => worker.tick(),
    wake() {
      woken = true
      interrupt?.abort(over)
    },
    retry: () => backingOff?.abort(),
    async run(signal) {
      let failures = 0
      const stop = () => interrupt?.abort(over)
      signal.addEventListener('abort', stop, { once: true })
      while (!signal.aborted) {
        woken = false
        try {
          if ((await worker.tick(signal)) > 0) woken = true
          failures = 0
          if (worker.rest_ms !== undefined) await clock.sleep(worker.rest_ms, signal)
        } catch (error) {
          onError(error, worker.name)
          backingOff = new AbortController()
          await clock.sleep(Math.min(100 * 2 ** failures, 5000), AbortSignal.any([signal, backingOff.signal]))
          failures += 1
          continue
        }
        await nap(worker.idle_ms, signal)
      }
    },
  }
}
