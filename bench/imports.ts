/** Bench `imports`: a contact file, sent over HTTP and applied in the background. */
import { Readable } from 'node:stream'
import { residentBytes } from './cpu.ts'
import { median, single, type BenchOptions, type Figure, type Measurement } from './figures.ts'
import { call, startService, type Service } from './service.ts'

const pollMs = 50
const withinMs = 600_000
const shapes = {
  usual: {
    header: 'phone,first_name,last_name,email,tags\n',
    line: (n: number) =>
      `${phoneOf(n)},First${n % 5000},Last${n % 20_011},user${n}@example.com,${n % 5 === 0 ? 'newsletter;vip' : 'newsletter'}\n`,
  },
  wide: {
    header: 'phone,first_name,last_name,email,tags,external_id,locale,attributes.plan,attributes.orders,consent.sms\n',
    line: (n: number) =>
      `${phoneOf(n)},First${n % 5000},Last${n % 20_011},user${n}@example.com,${n % 5 === 0 ? 'newsletter;vip' : 'newsletter'},crm-${n},de,${n % 3 === 0 ? 'pro' : 'free'},${n % 90},opted_in\n`,
  },
} as const

const phoneOf = (n: number): string => `+4915${String(100_000_000 + ((n * 7_919_993) % 899_999_963))}`

interface Round {
  /** Rows a second, from the first byte to the last row applied. */
  readonly rate: number
  readonly node_us: number
  readonly postgres_us: number
  readonly longest_ms: number
  readonly resident: number
  readonly bytes: number
}

export const imports: Measurement = {
  name: 'imports',
  title: 'Importing contacts from CSV',
  async run({ quick, say }: BenchOptions): Promise<{ figures: Figure[]; notes: string[] }> {
    await using service = await startService({ env: { POSTHORN_CONTACT_LIMIT: '100000000' } })
    const rows = quick ? 40_000 : 150_000
    say('imports: warming up')
    await importRound(service, 'usual', 0, 20_000)
    const rounds: Record<keyof typeof shapes, Round[]> = { usual: [], wide: [] }
    let from = 20_000
    for (const shape of quick ? (['usual', 'wide'] as const) : (['usual', 'wide', 'usual', 'usual'] as const)) {
      rounds[shape].push(await importRound(service, shape, from, rows))
      say(`imports: ${shape}, ${Math.round(rounds[shape].at(-1)!.rate)} rows/s`)
      from += rows
    }
    const again = await importRound(service, 'usual', from - rows, rows)
    return { figures: figuresOf(rounds, again), notes: notesOf(rows, [...rounds.usual, ...rounds.wide]) }
  },
}

async function importRound(service: Service, shape: keyof typeof shapes, from: number, rows: number): Promise<Round> {
  const counted = service.countCpu()
  const began = performance.now()
  const { id, bytes } = await upload(service, shape, from, rows)
  let [longest_ms, resident] = [0, 0]
  for (;;) {
    const [transaction] = await service.pool<{ ms: number }[]>`
      select coalesce(max(extract(epoch from clock_timestamp() - xact_start) * 1000), 0)::float8 as ms
      from pg_stat_activity
      where datname = current_database() and backend_xid is not null and pid <> pg_backend_pid() and backend_type = 'client backend'`
    longest_ms = Math.max(longest_ms, transaction!.ms)
    resident = Math.max(resident, residentBytes(service.pid))
    const { status, processed } = await call<{ status: string; processed: number }>(
      service.port,
      service.keys[0]!,
      'GET',
      `/v1/contact_imports/${id}`,
    )
    if (status === 'completed' && processed === rows) break
    if (status === 'failed' || performance.now() - began > withinMs)
      throw new Error(`the import is ${status} with ${processed} of ${rows} rows`)
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  const seconds = (performance.now() - began) / 1000
  const { node_us, postgres_us } = counted()
  return { rate: rows / seconds, node_us: node_us / rows, postgres_us: postgres_us / rows, longest_ms, resident, bytes }
}

async function upload(
  service: Service,
  shape: keyof typeof shapes,
  from: number,
  rows: number,
): Promise<{ id: string; bytes: number }> {
  const { header, line } = shapes[shape]
  const text = function* () {
    yield header
    for (let at = 0; at < rows; at += 1000)
      yield Array.from({ length: Math.min(1000, rows - at) }, (_, n) => line(from + at + n)).join('')
  }
  const answer = await fetch(`http://127.0.0.1:${service.port}/v1/contact_imports?consent_declared=true`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.keys[0]!}`, 'content-type': 'text/csv' },
    body: Readable.toWeb(Readable.from(text(), { objectMode: false })),
    duplex: 'half',
  } as unknown as RequestInit)
  if (answer.status !== 202) throw new Error(`the upload answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as { id: string; bytes: number }
}

function figuresOf(rounds: Record<keyof typeof shapes, Round[]>, again: Round): Figure[] {
  const of = (shape: keyof typeof shapes, field: keyof Round) => median(rounds[shape].map((round) => round[field]))
  const all = [...rounds.usual, ...rounds.wide, again]
  return [
    single('5 columns, new contacts', 'rows/s', of('usual', 'rate'), { least: 20_000 }),
    single('… CPU of the service', 'µs/row', of('usual', 'node_us')),
    single('… CPU of PostgreSQL', 'µs/row', of('usual', 'postgres_us')),
    single('10 columns with consent, new contacts', 'rows/s', of('wide', 'rate')),
    single('… CPU of the service', 'µs/row', of('wide', 'node_us')),
    single('… CPU of PostgreSQL', 'µs/row', of('wide', 'postgres_us')),
    single('the same file again, nothing changes', 'rows/s', again.rate),
    single('longest transaction seen', 'ms', Math.max(...all.map((round) => round.longest_ms)), { most: 1000 }),
    single('memory of the service at most', 'MB', Math.max(...all.map((round) => round.resident)) / 2 ** 20),
  ]
}

const notesOf = (rows: number, rounds: readonly Round[]): string[] => [
  `Files of ${rows} rows (${Math.round(Math.max(...rounds.map((round) => round.bytes)) / 2 ** 20)} MB at most), from the first byte sent until the last row is applied; the sender, the service and PostgreSQL share the cores.`,
]
