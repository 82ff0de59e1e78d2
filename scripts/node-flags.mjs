/** How the pinned Node is run: by the command line, and by whatever tests or measures the program as its users run it. */

/**
 * Arguments of Node, before the file. The heap may double between two collections, where V8 would let it grow fivefold, and a
 * new object gets 16 MB of room instead of 64; one thread collects that. New objects are all made there: those that V8 makes among
 * the old ones, because their like once lived long, keep alive whatever they point to (docs/decisions/bounded-heap.md).
 */
export const nodeFlags = [
  '--import',
  new URL('preload.mjs', import.meta.url).href,
  '--max-semi-space-size=16',
  '--heap-growing-percent=100',
  '--no-parallel-scavenge',
  '--no-allocation-site-pretenuring',
]
