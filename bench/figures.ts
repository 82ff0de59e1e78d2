/** What a measurement tells: figures beside their references, and how they are printed. */

export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** Measured in the same run. */
  readonly reference?: { readonly name: string; readonly value: number }
  /** `value` over `reference.value`. */
  readonly ratio?: number
  readonly target?: { readonly text: string; readonly met: boolean }
}

export interface Section {
  readonly name: string
  readonly title: string
  readonly figures: readonly Figure[]
  /** What one must know to read the figures. */
  readonly notes: readonly string[]
}

/** A measurement, which may be left out with a word. */
export interface Measurement {
  readonly name: string
  readonly title: string
  run(options: BenchOptions): Promise<Omit<Section, 'name' | 'title'>>
}

export interface BenchOptions {
  /** Fewer and shorter rounds, for a look in between; its figures are not to be kept. */
  readonly quick: boolean
  /** Told what is going on. */
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

/** A figure over its reference, with the least (or greatest) ratio that is wanted. */
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

/** A figure by itself, with the least or greatest value that is wanted. */
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

/** Interleaved rounds: every contender once a round, in turn, each round beginning with another one. Resolves to the results by contender. */
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

const columns = ['', 'figure', 'reference', 'ratio', 'wanted', ''] as const

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

/** Rows of cells as lines of one width, the first column to the left. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  ')
      .trimEnd(),
  )
}

/** A section as a table for a terminal. */
export function asText({ title, figures, notes }: Section): string {
  const lines = figures.length === 0 ? [] : table([columns, ...figures.map(cells)])
  return [title, ...[...lines, ...notes].map((line) => `  ${line}`), ''].join('\n')
}

/** The same for Markdown. */
export function asMarkdown(section: Section): string {
  const rows = section.figures.map((figure) => `| ${cells(figure).join(' | ')} |`)
  const lines =
    rows.length === 0
      ? []
      : ['| | Figure | Reference | Ratio | Wanted | |', '|---|---:|---:|---:|---:|---|', ...rows, '']
  return [`## ${section.title}`, '', ...lines, ...section.notes.map((note) => `- ${note}`), ''].join('\n')
}
