/** Loaded before every test file: a file whose tests are done, and which something left open keeps alive, fails with the name of that. */
import { afterEach, beforeEach } from 'node:test'

/**
 * So many turns of so long: work that lets nothing else happen, as removing a large folder on a busy machine, takes one of them however long it lasts. Longer than
 * any one of those that close things at the end of a test may wait (`boundMs` of waiting.ts), which says then itself what it waits for.
 */
const turnsMax = 150
const turnMs = Number(process.env['POSTHORN_TEST_END_TURN_MS'] ?? 1000)
let running = 0
let watch: NodeJS.Timeout | undefined

beforeEach(() => {
  running++
  clearTimeout(watch)
})

afterEach(() => {
  running--
  if (running === 0) wait(turnsMax)
})

/** Keeps nobody alive itself, so that it only rings where something else does. */
function wait(turns: number): void {
  watch = setTimeout(() => (turns > 1 ? wait(turns - 1) : tell()), turnMs).unref()
}

function tell(): void {
  console.error(
    `${process.argv[1]} has run its tests and does not end. Still open: ${process.getActiveResourcesInfo().join(', ')}`,
  )
  process.exit(1)
}
