/** Closes test resources, the last one first. */
import type { TestContext } from 'node:test'
import { within } from './waiting.ts'

type Close = () => unknown

const closers = new WeakMap<TestContext, Close[]>()

export function closing(t: TestContext, close: Close): void {
  const known = closers.get(t)
  if (known !== undefined) return void known.push(close)
  const list = [close]
  closers.set(t, list)
  t.after(async () => {
    const failures: unknown[] = []
    for (const one of list.toReversed())
      await within(`${String(one)} at the end of the test`, (async () => one())()).catch((error: unknown) =>
        failures.push(error),
      )
    // what follows a failure is closed too: otherwise its connections keep the process alive
    if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures)
  })
}
