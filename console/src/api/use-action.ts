/** Changes with an Idempotency-Key, so that repetitions perform them once. */
import { useMutation } from '@tanstack/react-query'
import { useMemo, useRef } from 'react'
import { type Problem, problemOf } from './client.ts'
import { reauthentication } from './session-events.ts'

export interface ApiMutation<I, R = unknown> {
  readonly run: (input: I) => void
  readonly isRunning: boolean
  readonly problem: Problem | undefined
  readonly result: R | undefined
  readonly reset: () => void
}

/** The key is reused for the same input until success or final refusal; `attempt` stores it beyond this screen. */
export function useApiMutation<I, R>(
  perform: (input: I, key: string) => Promise<R>,
  onDone: (result: R, input: I) => unknown = () => undefined,
  attempt?: IdempotencyKeys,
): ApiMutation<I, R> {
  const here = useIdempotencyKeys()
  const { keyFor, over } = attempt ?? here
  const running = useRef(false)
  const mutation = useMutation({
    mutationFn: (input: I) => {
      const key = keyFor(JSON.stringify(input) ?? '')
      return withReauthentication(() => perform(input, key))
    },
    onSuccess: async (result, input) => {
      over()
      try {
        await onDone(result, input)
      } catch (error) {
        // the change was made and must not be repeated
        reportError(error)
      }
    },
    onError: (error) => {
      if (isFinalRefusal(problemOf(error))) over()
    },
    onSettled: () => {
      running.current = false
    },
  })
  return {
    run: (input) => {
      if (running.current) return
      running.current = true
      mutation.mutate(input)
    },
    isRunning: mutation.isPending,
    problem: mutation.error === null ? undefined : problemOf(mutation.error),
    result: mutation.data,
    reset: mutation.reset,
  }
}

const finalStatuses: ReadonlySet<number> = new Set([402, 404, 409, 422])
const retryableCodes: ReadonlySet<string> = new Set(['idempotency_key_in_use', 'idempotency_key_reused', 'unexpected'])

/** The service replays this refusal for its key (behaviour: idempotency 3). */
const isFinalRefusal = ({ status, code }: Problem): boolean => finalStatuses.has(status) && !retryableCodes.has(code)

function useIdempotencyKeys(): IdempotencyKeys {
  const id = useRef<string>(undefined)
  return useMemo(
    () => ({
      keyFor: (input) => keyFor((id.current ??= randomId()), input),
      over: () => (id.current = undefined),
    }),
    [],
  )
}

async function withReauthentication<R>(perform: () => Promise<R>): Promise<R> {
  try {
    return await perform()
  } catch (error) {
    if (problemOf(error).code !== 'reauthentication_required' || !(await reauthentication.request())) throw error
    return await perform()
  }
}

export interface IdempotencyKeys {
  readonly keyFor: (input: string) => string
  readonly over: () => void
}

/** `crypto.randomUUID` needs https. */
export const randomId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

export const keyFor = (id: string, input: string): string => `${id}-${hashOf(input)}`

/** 64-bit FNV-1a. Collisions are harmless: the service also compares requests. */
function hashOf(input: string): string {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(input)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  return hash.toString(16)
}
