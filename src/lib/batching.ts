/** What queues that are committed in batches share: whose turn it is, and when a batch is worth its commit (docs/decisions/group-commit.md). */
import { pause } from './clock.ts'

/** One item of each key in turn, each key's in their order, about `most` of them: who has much takes the room that the others leave. */
export function inTurn<Item>(items: readonly Item[], keyOf: (item: Item) => string, most = Infinity): Item[] {
  const ordered: Item[] = []
  let queues = [...Map.groupBy(items, keyOf).values()]
  for (let turn = 0; queues.length > 0 && ordered.length < most; turn++) {
    for (const own of queues) ordered.push(own[turn]!)
    queues = queues.filter(({ length }) => length > turn + 1)
  }
  return ordered
}

/** Resolves when a batch is worth its commit: `full`, due (milliseconds of `performance.now()`), or nothing has come for a millisecond. */
export async function filled(waiting: () => number, full: number, due: number): Promise<void> {
  let before = -1
  for (let now = waiting(); now < full && now > before && performance.now() < due; now = waiting()) {
    before = now
    await pause(1)
  }
}
