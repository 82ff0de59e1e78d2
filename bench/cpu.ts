/** CPU time and memory of processes, from /proc. */
import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second. */
const tickUs = 10_000

interface Stat {
  readonly parent: number
  readonly own_us: number
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
    return undefined // ended, or not Linux
  }
}

export const childrenOf = (pid: number): number[] => processes().filter((id) => statOf(id)?.parent === pid)

const processes = (): number[] =>
  process.platform === 'linux'
    ? readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map(Number)
        .toSorted((one, other) => one - other)
    : []

export const processCpu = (pid: number): number => exactCpu(pid) ?? statOf(pid)?.own_us ?? Number.NaN

/** In nanoseconds by thread, without ended threads; undefined if not available. */
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

export function residentBytes(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
  return line === null ? Number.NaN : Number(line[1]) * 1024
}

/** Anonymous memory in bytes: without files and shared memory. */
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

export function countCpu(node: number, postmaster: number): () => CpuUse {
  const before = { node: processCpu(node), postgres: treeCpu(postmaster) }
  return () => ({ node_us: processCpu(node) - before.node, postgres_us: treeCpu(postmaster) - before.postgres })
}
