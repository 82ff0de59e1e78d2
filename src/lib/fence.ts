/**
 * A fence around work that only the holder of a lease may do. A process may stall between checking its lease and writing the request, so the writer checks the
 * fence again.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

/** Whether the lease still holds. */
export type Fence = () => boolean

const current = new AsyncLocalStorage<Fence>()

/** The error message of a request that was not written. */
export const fencedOff = 'It was no longer for this process to send.'

/** Runs work behind a fence: the HTTP client starts its requests only while the lease holds. */
export const fenced = <T>(fence: Fence, work: () => T): T => current.run(fence, work)

/** The fence of the current work, if any. */
export const fenceNow = (): Fence | undefined => current.getStore()
