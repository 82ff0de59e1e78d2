/** One thing that a person does: under the same key until it has succeeded or was refused for good, so that trying it again does it once. */
export interface Attempt {
  /** The Idempotency-Key of what is sent: another one where something else is sent. */
  readonly keyOf: (input: string) => string
  /** It succeeded or was refused for good: the next time is another thing. */
  readonly over: () => void
}

/** Random, in a page that came by plain http as well, where a browser has no `randomUUID`. */
export const randomId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

export const keyOf = (id: string, input: string): string => `${id}-${hashOf(input)}`

/** FNV-1a in 64 bits. The service compares what was sent besides, so two inputs of one hash are refused and not mixed up. */
function hashOf(input: string): string {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(input)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  return hash.toString(16)
}
