/** The loop that runs every worker. */
import { waitEnded, type Clock } from '../../lib/clock.ts'

export interface Worker {
  readonly name: string
  /** Resolves to the number of jobs done, soon after `stopping` aborts. */
  tick(stopping?: AbortSignal): Promise<number>
  /** After a poll that found nothing. */
  readonly poll_every_ms: number
  /** Between polls even with work to do, for larger batches. */
  readonly pause_ms?: number
}

export interface Loop {
  readonly name: string
  tick(): Promise<number>
  /** Resolves when the last poll has ended. Never rejects. */
  run(signal: AbortSignal): Promise<void>
  wake(): void
  /** Ends the backoff. */
  retry(): void
}

/** Backs off after failures, from 100 ms doubling to 5 s. */
export function loop(worker: Worker, clock: Clock, onError: (error: unknown, worker: string) => void): Loop {
  let woken = false
  let interrupt: AbortController | undefined
  let backingOff: AbortController | undefined
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
      interrupt?.abort(waitEnded)
    },
    retry: () => backingOff?.abort(),
    async run(signal) {
      let failures = 0
      const stop = () => interrupt?.abort(waitEnded)
      signal.addEventListener('abort', stop, { once: true })
      while (!signal.aborted) {
        woken = false
        try {
          if ((await worker.tick(signal)) > 0) woken = true
          failures = 0
          if (worker.pause_ms !== undefined) await clock.sleep(worker.pause_ms, signal)
        } catch (error) {
          onError(error, worker.name)
          backingOff = new AbortController()
          await clock.sleep(Math.min(100 * 2 ** failures, 5000), AbortSignal.any([signal, backingOff.signal]))
          failures += 1
          continue
        }
        await nap(worker.poll_every_ms, signal)
      }
    },
  }
}
