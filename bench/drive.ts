/** Controls the load generator process. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { LoadPlan, LoadReport } from './load.ts'

export interface Driver extends Disposable {
  run(plan: LoadPlan, ended?: Promise<unknown>): Promise<LoadReport>
}

export function startDriver(): Driver {
  const child: ChildProcess = fork(join(import.meta.dirname, 'load.ts'), ['child'], { stdio: 'inherit', execArgv: [] })
  return {
    async run(plan, ended) {
      const over = new AbortController()
      const answered = once(child, 'message', { signal: over.signal }) as Promise<
        [{ report?: LoadReport; error?: string }]
      >
      const died = once(child, 'exit', { signal: over.signal }).then(() =>
        Promise.reject(new Error('the load generator ended')),
      )
      for (const either of [answered, died]) either.catch(() => undefined)
      child.send(plan)
      const end = () => void (!over.signal.aborted && child.send('end'))
      ended?.then(end, end)
      const [{ report, error }] = await Promise.race([answered, died]).finally(() => over.abort())
      if (report === undefined) throw new Error(`the load generator failed: ${error}`)
      if (Object.keys(report.refused).length > 0)
        throw new Error(`the service refused requests under load: ${JSON.stringify(report.refused)}`)
      return report
    },
    [Symbol.dispose]: () => void (child.connected && child.disconnect()),
  }
}
