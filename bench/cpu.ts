/** CPU time of processes, from /proc: of the service, and of PostgreSQL with all its servers, also those that have ended. */
import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second. */
const tickUs = 10_000

interface Stat {
  readonly parent: number
  readonly own_us: number
  /** Of children that have ended. */
  readonly children_us: number
}

function statOf(pid: number | string): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    return {
      parent: fields[1]!,
      own_us: (fields[11]! + fields[12]!) * tickUs,
      children_us: (fields[13]! + fields[14]!) * tickUs,
    }
  } catch {
    return undefined // ended meanwhile, or not Linux
  }
}

/** Processes that this one has started and that still run, oldest first. */
export const childrenOf = (pid: number): number[] => processes().filter((id) => statOf(id)?.parent === pid)

const processes = (): number[] =>
  process.platform === 'linux'
    ? readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map(Number)
        .toSorted((one, other) => one - other)
    : []

/** Microseconds of CPU that one process has used. */
export const processCpu = (pid: number): number => exactCpu(pid) ?? statOf(pid)?.own_us ?? Number.NaN

/** As the scheduler counts, in nanoseconds, where it tells: by thread. What threads used that have ended is missing. */
function exactCpu(pid: number): number | undefined {
  try {
    let sum = 0
    for (const thread of readdirSync(`/proc/${pid}/task`))
      sum += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ', 1)[0]) / 1000
    return sum > 0 ? sum : undefined
  } catch {
    return undefined
  }
}

/** Microseconds of CPU that a process and its children have used. */
export function treeCpu(pid: number): number {
  const root = statOf(pid)
  if (root === undefined) return Number.NaN
  let sum = (exactCpu(pid) ?? root.own_us) + root.children_us
  for (const id of processes()) {
    const stat = statOf(id)
    if (stat?.parent === pid) sum += (exactCpu(id) ?? stat.own_us) + stat.children_us
  }
  return sum
}

/** Resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
  return line === null ? Number.NaN : Number(line[1]) * 1024
}

/** Anonymous resident memory of a process and its children, in bytes: what they hold beside files and shared memory. */
export function treeAnonymousBytes(pid: number): number {
  const of = (id: number | string): number => {
    try {
      const line = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${id}/status`, 'latin1'))
      return line === null ? 0 : Number(line[1]) * 1024
    } catch {
      return 0
    }
  }
  return of(pid) + childrenOf(pid).reduce((sum, id) => sum + of(id), 0)
}

export interface CpuUse {
  readonly node_us: number
  readonly postgres_us: number
}

/** Starts to count; the returned function tells what was used since. */
export function countCpu(node: number, postmaster: number): () => CpuUse {
  const before = { node: processCpu(node), postgres: treeCpu(postmaster) }
  return () => ({ node_us: processCpu(node) - before.node, postgres_us: treeCpu(postmaster) - before.postgres })
}
