/** Loaded before the tests of a process: ends it, and names what is still open, when something keeps it alive after its last test. */
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach } from 'node:test'

/** Longer than anything that closes at the end of a test may take (`boundMs` of waiting.ts). */
const graceMs = 150_000
let running = 0
let timer: NodeJS.Timeout | undefined

beforeEach(() => {
  running++
  clearTimeout(timer)
})

afterEach(() => {
  running--
  if (running === 0) timer = setTimeout(end, graceMs).unref()
})

function end(): void {
  const files = readFileSync(process.argv[1]!, 'utf8')
  console.error(
    `The tests of these files are done, but ${process.getActiveResourcesInfo().join(', ')} is still open:\n${files}`,
  )
  process.exit(1)
}
