/** The flags of the pinned Node, for the command line, tests and measurements. */

/** Limits heap growth, collects with one thread, and never pretenures objects (docs/decisions/bounded-heap.md). */
export const nodeFlags = [
  '--import',
  new URL('preload.mjs', import.meta.url).href,
  '--max-semi-space-size=16',
  '--heap-growing-percent=100',
  '--no-parallel-scavenge',
  '--no-allocation-site-pretenuring',
]
