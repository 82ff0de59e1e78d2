/** Random numbers from a seed. */
import { createHash } from 'node:crypto'

export interface Random {
  /** From 0 to below 1. */
  next(): number
  /** An integer from 0 to below `bound`. */
  below(bound: number): number
  pick<T>(list: readonly T[]): T
  shuffle<T>(list: readonly T[]): T[]
  fill(bytes: Uint8Array): void
}

/** mulberry32. */
export function seeded(seed: string | number): Random {
  let state = createHash('sha256').update(String(seed)).digest().readUInt32LE()
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (bound: number) => Math.floor(next() * bound)
  return {
    next,
    below,
    pick: (list) => list[below(list.length)]!,
    shuffle(list) {
      const mixed = [...list]
      for (let i = mixed.length - 1; i > 0; i--) {
        const j = below(i + 1)
        ;[mixed[i], mixed[j]] = [mixed[j]!, mixed[i]!]
      }
      return mixed
    },
    fill(bytes) {
      for (let i = 0; i < bytes.length; i++) bytes[i] = below(256)
    },
  }
}
