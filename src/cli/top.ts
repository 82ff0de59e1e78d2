/** `posthorn top`: live rates, queues and lags of running processes (behaviour: command-line 12). */
import type { Command } from 'commander'
import { request } from 'undici'
import { systemClock, type SteadyClock } from '../lib/clock.ts'
import { printable } from '../lib/text.ts'
import { OperatorError } from '../lib/operator-error.ts'
import { wholeNumber } from './arguments.ts'
import { bytesText, untilStopped } from './terminal.ts'
import type { Cli, Register } from './program.ts'

const secondsMost = 60

interface TopOptions {
  baseUrl?: string[]
  every: number
}

interface Top extends TopOptions {
  answer_within_ms: number
}

/** `answer_within_ms` limits each response. */
export const topWithin =
  (answer_within_ms: number): Register =>
  (program, cli) => {
    program
      .command('top')
      .description(
        'show rates, queues and lags of running processes, until Ctrl-C; without a terminal, or with --json, once',
      )
      .option('--base-url <url...>', 'processes whose /metrics are read; default: the configured one')
      .option('--every <seconds>', `seconds between two updates, up to ${secondsMost}`, wholeNumber, 2)
      .action(
        async (options: TopOptions, command: Command) => await top(cli, command, { ...options, answer_within_ms }),
      )
  }

export const registerTop = topWithin(5_000)

async function top(cli: Cli, command: Command, { baseUrl, every, answer_within_ms }: Top): Promise<void> {
  const urls = baseUrl ?? [(await import('../config/config.ts')).readConfig(cli.terminal.env).base_url]
  const clock = systemClock()
  const everyMs = Math.min(Math.max(every, 1), secondsMost) * 1000
  const isOnce = cli.terminal.rewrites !== true || command.optsWithGlobals()['json'] === true
  await untilStopped(async (signal) => {
    let before = await takeSample(clock, urls, answer_within_ms)
    for (;;) {
      await clock.sleep(everyMs, signal)
      if (signal.aborted) return
      const after = await takeSample(clock, urls, answer_within_ms)
      const figures = figuresOf(new Interval(before, after), urls.length)
      if (isOnce) return cli.print(command, { json: figures, text: textOf(figures) })
      cli.terminal.out(`\u001B[H\u001B[J${textOf(figures)}\n\nEvery ${everyMs / 1000} s, until Ctrl-C.\n`)
      before = after
    }
  })
}

async function takeSample(
  clock: Pick<SteadyClock, 'elapsed'>,
  urls: readonly string[],
  within_ms: number,
): Promise<Sample> {
  return { processes: await Promise.all(urls.map((url) => scrape(url, within_ms))), at: Math.round(clock.elapsed()) }
}

async function scrape(url: string, within_ms: number): Promise<Series[]> {
  const address = `${url.replace(/\/+$/, '')}/metrics`
  try {
    const { statusCode, body } = await request(address, { headersTimeout: within_ms, bodyTimeout: within_ms })
    const series = seriesIn(await body.text())
    if (statusCode === 200 && series.some(({ name }) => name.startsWith('posthorn_'))) return series
  } catch (error) {
    throw new OperatorError(
      `${printable(address)} cannot be reached: ${(error as Error).message}. Start the service, or give the address of a process with --base-url.`,
    )
  }
  throw new OperatorError(
    `${printable(address)} is not a Posthorn service. Give the address of a process with --base-url.`,
  )
}

const figuresOf = (interval: Interval, processes: number) => {
  const one = (found: Map<string, number>): number => found.get('') ?? 0
  const requests = interval.rates('posthorn_request_duration_seconds_count', 'status')
  return {
    object: 'top',
    processes,
    seconds: interval.seconds,
    accepted: rounded(interval.rates('posthorn_messages_accepted_total', 'mode', 'channel_type')),
    attempts: rounded(interval.rates('posthorn_attempts_total', 'kind', 'outcome')),
    requests: rounded(requests),
    refused: rounded(interval.rates('posthorn_requests_refused_total', 'code')),
    seconds_at_most: {
      request_half: interval.quantile('posthorn_request_duration_seconds', 0.5),
      request_99: interval.quantile('posthorn_request_duration_seconds', 0.99),
      dispatch_lag_99: interval.quantile('posthorn_dispatch_lag_seconds', 0.99),
      delivery_lag_99: interval.quantile('posthorn_delivery_lag_seconds', 0.99),
    },
    queues: rounded(interval.now('posthorn_queue_depth', 'most', 'queue')),
    feed_blocked_seconds: one(interval.now('posthorn_feed_horizon_age_seconds', 'most')),
    circuits_open: one(interval.now('posthorn_circuits_open', 'sum')),
    channels: rounded(interval.now('posthorn_channels', 'most', 'channel_type', 'connection_status')),
    database_writable: [...interval.now('posthorn_database_writable', 'most').values()].every((value) => value === 1),
    connections: rounded(interval.now('posthorn_pool_connections', 'sum', 'state')),
    cpu: Number(one(interval.rates('process_cpu_seconds_total')).toFixed(2)),
    memory_bytes: one(interval.now('process_resident_memory_bytes', 'sum')),
  }
}

/** Omits zeros. */
const rounded = (found: Map<string, number>): Record<string, number> =>
  Object.fromEntries(
    [...found].filter(([, value]) => value > 0).map(([name, value]) => [name, Number(value.toFixed(1))]),
  )

type Figures = ReturnType<typeof figuresOf>

const nothing = '–'
const words = (found: Record<string, number>, unit: string): string =>
  Object.entries(found)
    .toSorted(([, one], [, other]) => other - one)
    .map(([name, value]) => `${printable(name)} ${value.toLocaleString('en')}${unit}`)
    .join('   ') || nothing
const within = (seconds: number | null): string =>
  seconds === null
    ? nothing
    : seconds === Number.POSITIVE_INFINITY
      ? 'above the largest bucket'
      : seconds < 1
        ? `≤ ${seconds * 1000} ms`
        : `≤ ${seconds} s`

function textOf(figures: Figures): string {
  const { processes, seconds_at_most: at_most, connections, feed_blocked_seconds: blocked_s } = figures
  const rows: [string, string][] = [
    ['accepted', words(figures.accepted, '/s')],
    ['attempts', words(figures.attempts, '/s')],
    ['requests', words(figures.requests, '/s')],
    ['refused', words(figures.refused, '/s')],
    ['answered', `half ${within(at_most.request_half)}, 99 % ${within(at_most.request_99)}`],
    ['lags, 99 %', `messages ${within(at_most.dispatch_lag_99)}, webhooks ${within(at_most.delivery_lag_99)}`],
    ['queues', words(figures.queues, '')],
    [
      'channels',
      `${words(figures.channels, '')}${figures.circuits_open > 0 ? `   circuits open ${figures.circuits_open}` : ''}`,
    ],
    ['event feed', blocked_s > 1 ? `BLOCKED for ${Math.round(blocked_s)} s: see posthorn doctor` : 'ok'],
    ['database', `${figures.database_writable ? 'writable' : 'NOT WRITABLE'}   ${words(connections, '')}`],
    ['processes', `${processes}   ${figures.cpu.toLocaleString('en')} cores   ${bytesText(figures.memory_bytes)}`],
  ]
  return rows.map(([name, text]) => `${name.padEnd(12)}${text}`).join('\n')
}

export interface Series {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const line = /^(\w+)(?:\{(.*)\})? (\S+)$/
const label = /(\w+)="((?:[^"\\]|\\.)*)"/g

/** Parses Prometheus' text format; skips other lines. */
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

/** A sample of every process. */
export interface Sample {
  /** Milliseconds. */
  readonly at: number
  readonly processes: readonly (readonly Series[])[]
}

export class Interval {
  readonly seconds: number
  readonly #before: Sample
  readonly #after: Sample

  constructor(before: Sample, after: Sample) {
    this.seconds = Math.max(0.001, (after.at - before.at) / 1000)
    this.#before = before
    this.#after = after
  }

  /** Per second. A restarted process counts from 0. */
  rates(name: string, ...by: readonly string[]): Map<string, number> {
    const grown = new Map<string, number>()
    for (const { labels, value } of this.#grown(name)) {
      const key = by.map((one) => labels[one] ?? '').join(' ')
      grown.set(key, (grown.get(key) ?? 0) + value / this.seconds)
    }
    return grown
  }

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

  /** Sum or maximum over all processes, by label values. */
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
