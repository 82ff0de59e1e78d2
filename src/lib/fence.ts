/**
 * A fence around work that only the holder of a lease may do. A process may stall between its last look at the lease and the moment in which a request is written; whatever
 * writes asks the fence again then.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

/** Whether the lease still holds. */
export type Fence = () => boolean

const current = new AsyncLocalStorage<Fence>()

/** What is told of a request that was not written. */
export const fencedOff = 'It was no longer for this process to send.'

/** Does work behind a fence: what it has the HTTP client send begins only while the lease holds. */
export const fenced = <T>(fence: Fence, work: () => T): T => current.run(fence, work)

/** The fence of the work that is being done; undefined: none. */
export const fenceNow = (): Fence | undefined => current.getStore()
