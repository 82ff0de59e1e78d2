/** `npm run bench`: every figure beside a reference of the same run. `--only a,b`, `--quick`, `--json`, `--write` (keeps the run in docs/reference/performance.md). */
import { writeFile } from 'node:fs/promises'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { accept } from './accept.ts'
import { cycle } from './cycle.ts'
import { drain, endpoints } from './deliveries.ts'
import { dispatch } from './dispatch.ts'
import { flat } from './flat.ts'
import { footprint } from './footprint.ts'
import { imports } from './imports.ts'
import { redis } from './redis.ts'
import { segments } from './segments.ts'
import { asMarkdown, asText, type Measurement, type Section } from './figures.ts'

const measurements: readonly Measurement[] = [accept, redis, dispatch, flat, cycle, drain, endpoints, segments, imports, footprint]

const usage = `npm run bench -- [--only NAME,NAME…] [--quick] [--json] [--write]
  --only   some of: ${measurements.map(({ name }) => name).join(', ')}
  --quick  fewer rounds
  --json   one JSON object instead of tables
  --write  keeps a full run in docs/reference/performance.md
`
const refuse = (sentence: string): never => {
  process.stderr.write(`${sentence}\n${usage}`)
  process.exit(2)
}

const wanted = readOptions()
const names = wanted.only?.split(',').map((name) => name.trim())
const unknown = names?.find((name) => !measurements.some((measurement) => measurement.name === name))
if (unknown !== undefined) refuse(`There is no measurement ${unknown}.`)
if (wanted.write && names !== undefined) refuse('Only a full run is kept: leave out --only or --write.')

const environment = {
  date: new Date().toISOString(),
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memory_gb: Math.round(totalmem() / 2 ** 30),
  system: `${process.platform} ${release()}`,
  node: process.version,
  database: 'embedded PostgreSQL 18, fsync on',
  // of others: above 0 they take their share of the cores
  load_before: Number(loadavg()[0]!.toFixed(1)),
}

const sections: Section[] = []
const say = (line: string) => void process.stderr.write(`${line}\n`)
const began = performance.now()
for (const { name, title, run } of measurements) {
  if (names !== undefined && !names.includes(name)) continue
  const started = performance.now()
  try {
    sections.push({ name, title, ...(await run({ quick: wanted.quick, say })) })
  } catch (error) {
    // one that fails is told among the others, and the run ends with its code
    say(`${name} failed: ${(error as Error).stack}`)
    sections.push({ name, title, figures: [], notes: [`Failed: ${(error as Error).message}`] })
    process.exitCode = 1
  }
  say(`${name} took ${Math.round((performance.now() - started) / 1000)} s`)
  if (!wanted.json) process.stdout.write(`${asText(sections.at(-1)!)}\n`)
}
const seconds = Math.round((performance.now() - began) / 1000)

if (wanted.json) process.stdout.write(`${JSON.stringify({ environment, seconds, sections }, null, 2)}\n`)
else process.stdout.write(`${environmentLine()}\n`)
if (wanted.write) await writeFile(join(import.meta.dirname, '..', 'docs', 'reference', 'performance.md'), page())

function readOptions() {
  const flag = { type: 'boolean', default: false } as const
  try {
    const { values } = parseArgs({ options: { only: { type: 'string' }, quick: flag, json: flag, write: flag, help: flag } })
    if (!values.help) return values
  } catch (error) {
    return refuse((error as Error).message)
  }
  process.stdout.write(usage)
  process.exit(0)
}

function page(): string {
  return [
    '# Performance',
    '',
    'The last full run of `npm run bench`. Each figure stands beside a reference that was measured in the same run, in turn with it; every value is the median of its rounds.',
    'Read ratios and CPU per message: rates belong to the machine, and the load generator shares its cores with the service and the database.',
    '',
    `${environmentLine()}${wanted.quick ? ' · a quick run' : ''}`,
    '',
    ...sections.map(asMarkdown),
  ].join('\n')
}

function environmentLine(): string {
  const { date, cpu, cores, memory_gb, system, node, database, load_before } = environment
  return `${date.slice(0, 10)} · ${cores} × ${cpu} · ${memory_gb} GB · ${system} · Node ${node} · ${database} · load average before the run ${load_before} · ${seconds} s`
}
