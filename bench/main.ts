/** `npm run bench`: all measurements, or with `--against` a comparison with another commit. */
import { writeFile } from 'node:fs/promises'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { accept } from './accept.ts'
import { automationRuns } from './automation-runs.ts'
import { backups } from './backup.ts'
import { campaignSending } from './campaign-sending.ts'
import { campaignSnapshots } from './campaign-snapshots.ts'
import { channels } from './channels.ts'
import { checkOut } from './checkout.ts'
import { compare, type Comparison } from './compare/compare.ts'
import { comparisonText } from './compare/report.ts'
import { consoleBudgets } from './console.ts'
import { cycle } from './cycle.ts'
import { drain, endpoints } from './deliveries.ts'
import { dispatch } from './dispatch.ts'
import { bulk } from './bulk.ts'
import { asMarkdown, asText, type Measurement, type Section } from './figures.ts'
import { flat } from './flat.ts'
import { footprint } from './footprint.ts'
import { imports } from './imports.ts'
import { largeBodies } from './large-bodies.ts'
import { nativeWebhooks } from './native-webhooks.ts'
import { readOptions, type Options } from './options.ts'
import { redis } from './redis.ts'
import { segments } from './segments.ts'

const measurements: readonly Measurement[] = [
  accept,
  redis,
  dispatch,
  channels,
  flat,
  cycle,
  bulk,
  campaignSending,
  campaignSnapshots,
  automationRuns,
  drain,
  endpoints,
  segments,
  imports,
  nativeWebhooks,
  largeBodies,
  footprint,
  consoleBudgets,
  backups,
]

const options = readOptions(
  process.argv.slice(2),
  measurements.map(({ name }) => name),
)

const environment = {
  date: new Date().toISOString(),
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memory_gb: Math.round(totalmem() / 2 ** 30),
  system: `${process.platform} ${release()}`,
  node: process.version,
  database: 'embedded PostgreSQL 18, fsync on',
  load_before: Number(loadavg()[0]!.toFixed(1)),
}

const say = (line: string) => void process.stderr.write(`${line}\n`)
const print = (text: string) => void process.stdout.write(`${text}\n`)
// exit handlers end all children
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
const began = performance.now()
const seconds = (since: number): number => Math.round((performance.now() - since) / 1000)

if (options.against === undefined) await measureAll(options)
else await compareAll(options, options.against)

/** A failed measurement is reported with the others, and sets the exit code. */
async function measureAll({ only, quick, json, write }: Options): Promise<void> {
  const sections: Section[] = []
  for (const { name, title, run } of measurements.filter(({ name }) => only?.includes(name) ?? true)) {
    const started = performance.now()
    try {
      sections.push({ name, title, ...(await run({ quick, say })) })
    } catch (error) {
      failed(name, error)
      sections.push({ name, title, figures: [], notes: [`Failed: ${(error as Error).message}`] })
    }
    say(`${name} took ${seconds(started)} s`)
    if (!json) print(asText(sections.at(-1)!))
  }
  print(json ? JSON.stringify({ environment, seconds: seconds(began), sections }, null, 2) : environmentLine())
  if (write) await writeFile(join(import.meta.dirname, '..', 'docs', 'reference', 'performance.md'), page(sections))
}

async function compareAll(
  { paths, pairs, followed, consoles, gate, quick, json }: Options,
  revision: string,
): Promise<void> {
  const comparisons: Comparison[] = []
  say(`checking out ${revision}`)
  await using before = await checkOut(revision).catch((error: Error) => {
    say(`${revision} cannot be checked out: ${error.message}`)
    process.exit(2)
  })
  const { commit, subject } = before
  for (const name of paths) {
    const started = performance.now()
    try {
      comparisons.push(await compare(name, before, { pairs, followed, consoles, quick, say }))
      if (!json) print(comparisonText(comparisons.at(-1)!, before.name))
    } catch (error) {
      failed(name, error)
    }
    say(`${name} took ${seconds(started)} s`)
  }
  if (json)
    print(
      JSON.stringify(
        { environment, seconds: seconds(began), against: { commit, subject }, followed, consoles, comparisons },
        null,
        2,
      ),
    )
  else
    print(
      `Against ${before.name} (${subject}), followed: ${followed}; open consoles: ${consoles}.\n${environmentLine()}`,
    )
  if (gate && comparisons.some(({ verdict }) => !verdict.met)) process.exitCode = 1
}

function failed(name: string, error: unknown): void {
  say(`${name} failed: ${(error as Error).stack}`)
  process.exitCode = 1
}

function page(sections: readonly Section[]): string {
  return [
    '# Performance',
    '',
    'This page shows the last full run of `npm run bench`. References were measured in the same run, alternating with the figures; every value is the median of its rounds.',
    'Compare ratios and CPU per message. Rates depend on the machine, and the load generator shares its cores with the service and the database.',
    '',
    `${environmentLine()}${options.quick ? ' · a quick run' : ''}`,
    '',
    ...sections.map(asMarkdown),
  ].join('\n')
}

function environmentLine(): string {
  const { date, cpu, cores, memory_gb, system, node, database, load_before } = environment
  return `${date.slice(0, 10)} · ${cores} × ${cpu} · ${memory_gb} GB · ${system} · Node ${node} · ${database} · load average before the run ${load_before} · ${seconds(began)} s`
}
