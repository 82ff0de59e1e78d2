/** Loaded before every test file: a file whose tests are done, and which something left open keeps alive, fails with the name of that. */
import { afterEach, beforeEach } from 'node:test'

const endsWithinMs = 30_000
let running = 0
let watch: NodeJS.Timeout | undefined

beforeEach(() => {
  running++
  clearTimeout(watch)
})

afterEach(() => {
  running--
  // it keeps nobody alive itself, so it only rings where something else does
  if (running === 0) watch = setTimeout(tell, endsWithinMs).unref()
})

function tell(): void {
  console.error(`${process.argv[1]} has run its tests and does not end. Still open: ${process.getActiveResourcesInfo().join(', ')}`)
  process.exit(1)
}
