/** Guards work that only the holder of a lease may do. The HTTP client checks the fence again before it writes. */
import { AsyncLocalStorage } from 'node:async_hooks'

export type Fence = () => boolean

const current = new AsyncLocalStorage<Fence>()

export const fencedOff = 'It was no longer for this process to send.'

export const fenced = <T>(fence: Fence, work: () => T): T => current.run(fence, work)

export const fenceNow = (): Fence | undefined => current.getStore()
