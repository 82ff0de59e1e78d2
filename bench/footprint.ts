/** Bench `footprint`: start time and memory, idle and under load. */
import { rm } from 'node:fs/promises'
import { residentBytes, treeAnonymousBytes } from './cpu.ts'
import { startDriver } from './drive.ts'
import { median, single, type Measurement } from './figures.ts'
import { sendRound } from './rounds.ts'
import { freshFolder, npmStart, startService } from './service.ts'

const megabytes = (bytes: number): number => bytes / 1e6

export const footprint: Measurement = {
  name: 'footprint',
  title: 'Footprint',
  async run({ quick, say }) {
    const rounds = quick ? 2 : 5
    say('footprint: starting')
    const [fresh, again]: [number[], number[]] = [[], []]
    const folders: string[] = []
    for (let round = 0; round < rounds; round++) {
      const folder = await freshFolder()
      folders.push(folder)
      for (const times of [fresh, again]) {
        const running = await npmStart(folder)
        times.push(running.ready_ms / 1000)
        await running.stop()
      }
    }
    // not between rounds: removing files slows ext4
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
    using driver = startDriver()
    await using service = await startService()
    const idle = { node: residentBytes(service.pid), postgres: treeAnonymousBytes(service.postmaster) }
    say('footprint: load')
    const samples: number[] = []
    const watch = setInterval(() => samples.push(residentBytes(service.pid)), 250)
    await sendRound(driver, service, service, { seconds: quick ? 5 : 10 })
    clearInterval(watch)
    const half = samples.length >> 1
    const [early, late] = [median(samples.slice(half >> 1, half)), median(samples.slice(half))]
    return {
      figures: [
        single('start to ready, empty folder', 's', median(fresh), { most: 3 }),
        single('start to ready, afterwards', 's', median(again), { most: 1.5 }),
        single('Node resident, idle', 'MB', megabytes(idle.node)),
        single('Node resident under load, most', 'MB', megabytes(Math.max(...samples)), { most: 300 }),
        single('… second half over the quarter before', '×', late / early, { most: 1.15 }),
        single('PostgreSQL beside shared memory, idle', 'MB', megabytes(idle.postgres)),
        single('PostgreSQL beside shared memory, after load', 'MB', megabytes(treeAnonymousBytes(service.postmaster))),
      ],
      notes: ['From `npm start` to the line with the address, when database, migrations and workers are ready.'],
    }
  },
}
