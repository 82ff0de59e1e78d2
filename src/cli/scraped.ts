/** What `/metrics` of processes tells, and what lies between two looks at it. */

export interface Series {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const line = /^(\w+)(?:\{(.*)\})? (\S+)$/
const label = /(\w+)="((?:[^"\\]|\\.)*)"/g

/** The series of a page in Prometheus' format; whatever else stands there is passed over. */
export function seriesIn(page: string): Series[] {
  return page.split('\n').flatMap((text) => {
    const [, name, labels, value] = line.exec(text) ?? []
    if (name === undefined || Number.isNaN(Number(value))) return []
    return [
      {
        name,
        labels: Object.fromEntries([...(labels ?? '').matchAll(label)].map(([, key, word]) => [key!, word!])),
        value: Number(value),
      },
    ]
  })
}

/** A look at every process, in the order in which they were named. */
export interface Look {
  /** Milliseconds. */
  readonly at: number
  readonly processes: readonly (readonly Series[])[]
}

/** Two looks, one after the other. */
export class Between {
  readonly seconds: number
  readonly #before: Look
  readonly #after: Look

  constructor(before: Look, after: Look) {
    this.seconds = Math.max(0.001, (after.at - before.at) / 1000)
    this.#before = before
    this.#after = after
  }

  /** How much a counter has grown a second in all processes, by the values of these labels joined by a space. A process that began anew counts from 0. */
  rates(name: string, ...by: readonly string[]): Map<string, number> {
    const grown = new Map<string, number>()
    for (const { labels, value } of this.#grown(name)) {
      const key = by.map((one) => labels[one] ?? '').join(' ')
      grown.set(key, (grown.get(key) ?? 0) + value / this.seconds)
    }
    return grown
  }

  /** The bound of the bucket that holds this share of what a histogram was told meanwhile; null where it was told nothing. */
  quantile(name: string, share: number): number | null {
    const buckets = new Map<number, number>()
    for (const { labels, value } of this.#grown(`${name}_bucket`)) {
      const bound = labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels['le'])
      buckets.set(bound, (buckets.get(bound) ?? 0) + value)
    }
    const sorted = [...buckets].toSorted(([one], [other]) => one - other)
    const all = sorted.at(-1)?.[1] ?? 0
    return all === 0 ? null : sorted.find(([, count]) => count >= all * share)![0]
  }

  /** What a gauge stands at, of all processes: their sum, or the most of any. By the values of these labels. */
  now(name: string, over: 'sum' | 'most', ...by: readonly string[]): Map<string, number> {
    const found = new Map<string, number>()
    for (const { labels, value } of this.#after.processes.flat().filter((series) => series.name === name)) {
      const key = by.map((one) => labels[one] ?? '').join(' ')
      const known = found.get(key)
      found.set(key, known === undefined ? value : over === 'sum' ? known + value : Math.max(known, value))
    }
    return found
  }

  #grown(name: string): Series[] {
    return this.#after.processes.flatMap((series, process) => {
      const before = new Map(
        (this.#before.processes[process] ?? [])
          .filter((one) => one.name === name)
          .map((one) => [JSON.stringify(one.labels), one.value]),
      )
      return series
        .filter((one) => one.name === name)
        .map((one) => {
          const was = before.get(JSON.stringify(one.labels)) ?? 0
          return { ...one, value: one.value >= was ? one.value - was : one.value }
        })
    })
  }
}
