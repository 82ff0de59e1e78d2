/** Figures of measurements, with references, and their output. */

export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly reference?: { readonly name: string; readonly value: number }
  readonly ratio?: number
  readonly target?: { readonly text: string; readonly met: boolean }
}

export interface Section {
  readonly name: string
  readonly title: string
  readonly figures: readonly Figure[]
  readonly notes: readonly string[]
}

export interface Measurement {
  readonly name: string
  readonly title: string
  run(options: BenchOptions): Promise<Omit<Section, 'name' | 'title'>>
}

export interface BenchOptions {
  readonly quick: boolean
  readonly say: (line: string) => void
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  return sorted.length === 0
    ? Number.NaN
    : sorted.length % 2 === 1
      ? sorted[middle]!
      : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export function compared(
  name: string,
  unit: string,
  value: number,
  reference: { name: string; value: number },
  wanted?: { least?: number; most?: number },
): Figure {
  const ratio = value / reference.value
  return {
    name,
    value,
    unit,
    reference,
    ratio,
    ...(wanted === undefined ? {} : { target: targetOf(ratio, wanted, '×') }),
  }
}

export function single(name: string, unit: string, value: number, wanted?: { least?: number; most?: number }): Figure {
  return { name, value, unit, ...(wanted === undefined ? {} : { target: targetOf(value, wanted, unit) }) }
}

function targetOf(
  value: number,
  { least, most }: { least?: number; most?: number },
  unit: string,
): { text: string; met: boolean } {
  if (least !== undefined) return { text: `≥ ${amount(least)} ${unit}`, met: value >= least }
  return { text: `≤ ${amount(most!)} ${unit}`, met: value <= most! }
}

/** Each round begins with another contender. Resolves to the results by contender. */
export async function interleaved<T>(
  rounds: number,
  contenders: Readonly<Record<string, () => Promise<T>>>,
): Promise<Record<string, T[]>> {
  const names = Object.keys(contenders)
  const results: Record<string, T[]> = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + round) % names.length]!
      results[name]!.push(await contenders[name]!())
    }
  }
  return results
}

export function amount(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const size = Math.abs(value)
  const digits = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
  return value.toLocaleString('en-US', { maximumFractionDigits: digits })
}

const columns = ['', 'figure', 'reference', 'ratio', 'target', ''] as const

function cells(figure: Figure): string[] {
  return [
    figure.name,
    `${amount(figure.value)} ${figure.unit}`,
    figure.reference === undefined ? '' : `${amount(figure.reference.value)} ${figure.unit} (${figure.reference.name})`,
    figure.ratio === undefined ? '' : `${amount(figure.ratio)} ×`,
    figure.target?.text ?? '',
    figure.target === undefined ? '' : figure.target.met ? 'met' : 'MISSED',
  ]
}

export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  ')
      .trimEnd(),
  )
}

export function asText({ title, figures, notes }: Section): string {
  const lines = figures.length === 0 ? [] : table([columns, ...figures.map(cells)])
  return [title, ...[...lines, ...notes].map((line) => `  ${line}`), ''].join('\n')
}

export function asMarkdown(section: Section): string {
  const rows = section.figures.map((figure) => `| ${cells(figure).join(' | ')} |`)
  const lines =
    rows.length === 0
      ? []
      : ['| | Figure | Reference | Ratio | Target | |', '|---|---:|---:|---:|---:|---|', ...rows, '']
  return [`## ${section.title}`, '', ...lines, ...section.notes.map((note) => `- ${note}`), ''].join('\n')
}
