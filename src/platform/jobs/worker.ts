/** The one loop under every worker: `tick()` for tests, `run(signal)` for production, `wake()` when there may be work. */
import { over, type Clock } from '../../lib/clock.ts'

export interface Worker {
  readonly name: string
  /** One pass; resolves to the number of jobs it worked on, 0 when there was nothing to do. A long one ends soon once `stopping` aborts. */
  tick(stopping?: AbortSignal): Promise<number>
  /** Milliseconds to wait when a pass found nothing; `wake` ends the wait. */
  readonly idle_ms: number
  /** Milliseconds between two passes, whatever there is to do: for work that costs less the more of it is done at once. */
  readonly rest_ms?: number
}

export interface Loop {
  readonly name: string
  tick(): Promise<number>
  /** Repeats until the signal aborts, then resolves once the pass in hand is finished. Never rejects. */
  run(signal: AbortSignal): Promise<void>
  wake(): void
  /** Ends the wait after failed passes: what they failed for is over. */
  retry(): void
}

/** `onError` is told of every failed pass; the loop then backs off, from 100 ms doubling to 5 s. */
export function loop(worker: Worker, clock: Clock, onError: (error: unknown, worker: string) => void): Loop {
  let woken = false
  let interrupt: AbortController | undefined
  let backingOff: AbortController | undefined
  /** Until it is woken, or `run` is to end. */
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
