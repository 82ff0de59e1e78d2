/** Something that a person does once: a change under one Idempotency-Key, so that a double click or a second try after a lost answer does it once. */
import { useMutation } from '@tanstack/react-query'
import { useMemo, useRef } from 'react'
import { type Problem, problemOf } from './client.ts'
import { reauthentication } from './session-events.ts'

export interface ApiMutation<I, R = unknown> {
  /** Does it, unless it is being done. */
  readonly run: (input: I) => void
  readonly isRunning: boolean
  readonly problem: Problem | undefined
  /** What was answered when it was done last. */
  readonly result: R | undefined
  readonly reset: () => void
}

/** `perform` gets the input and the key, which stays until the same input has succeeded or was refused for good: on this screen, or where `attempt` keeps it. */
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
        // it was done: what went wrong afterwards is no reason to do it again
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

/** The service would repeat this refusal under its key, whatever is mended meanwhile; nothing was done under that (behaviour: idempotency 3). */
const isFinalRefusal = ({ status, code }: Problem): boolean => finalStatuses.has(status) && !retryableCodes.has(code)

/** An attempt of this screen, until it is left. */
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

/** Does it again where the person has given the password that it asked for; nothing was done before. */
async function withReauthentication<R>(perform: () => Promise<R>): Promise<R> {
  try {
    return await perform()
  } catch (error) {
    if (problemOf(error).code !== 'reauthentication_required' || !(await reauthentication.ask())) throw error
    return await perform()
  }
}

/** One thing that a person does: under the same key until it has succeeded or was refused for good, so that trying it again does it once. */
export interface IdempotencyKeys {
  /** The Idempotency-Key of what is sent: another one where something else is sent. */
  readonly keyFor: (input: string) => string
  /** It succeeded or was refused for good: the next time is another thing. */
  readonly over: () => void
}

/** Random, in a page that came by plain http as well, where a browser has no `randomUUID`. */
export const randomId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

export const keyFor = (id: string, input: string): string => `${id}-${hashOf(input)}`

/** FNV-1a in 64 bits. The service compares what was sent besides, so two inputs of one hash are refused and not mixed up. */
function hashOf(input: string): string {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(input)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  return hash.toString(16)
}
