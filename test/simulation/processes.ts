/** Two processes on one database, one of which is killed now and then. */
import type { WorldProcess } from '../support/process.ts'
import type { Random } from '../support/random.ts'
import type { World } from '../support/world.ts'

export interface SimulatedProcesses {
  readonly all: readonly WorldProcess[]
  tickWhileTimePasses(process: WorldProcess, worker: string): Promise<number>
  readonly work: () => Promise<void>
  /** During a run of every worker, after a replacement has started. */
  readonly killOne: () => Promise<void>
  readonly letTimePass: () => Promise<void>
  deaths(): number
}

export interface SimulatedParts {
  readonly world: World
  readonly random: Random
  readonly workers: readonly string[]
  readonly stepsMs: readonly number[]
  readonly start: (name: string) => Promise<WorldProcess>
}

export async function simulatedProcesses({
  world,
  random,
  workers,
  stepsMs,
  start,
}: SimulatedParts): Promise<SimulatedProcesses> {
  const life = { born: 0, deaths: 0 }
  const begin = () => start(`process ${++life.born}`)
  const all: WorldProcess[] = [await begin(), await begin()]
  const tickWhileTimePasses = (process: WorldProcess, worker: string): Promise<number> =>
    process.app
      .worker(worker)
      .tick()
      .catch(() => 0)
  return {
    all,
    tickWhileTimePasses,
    async work() {
      await Promise.all(
        Array.from({ length: 1 + random.below(4) }, () => tickWhileTimePasses(random.pick(all), random.pick(workers))),
      )
    },
    async killOne() {
      const at = random.below(all.length)
      const dying = all[at]!
      all[at] = await begin()
      const passes = workers.map((worker) => tickWhileTimePasses(dying, worker))
      for (let turns = random.below(8); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve))
      await dying.kill()
      void Promise.all(passes)
      life.deaths += 1
    },
    async letTimePass() {
      await world.clock.advance(random.pick(stepsMs))
      await Promise.all(all.map((process) => tickWhileTimePasses(process, 'heartbeat')))
    },
    deaths: () => life.deaths,
  }
}
