/** Recipients as they are typed or pasted, one a line, and as the API takes them. */
import type { components } from '../../api/generated/v1.ts'

type Recipient = NonNullable<components['schemas']['CampaignAudienceRequest']['recipients']>[number]

const usual: readonly string[] = ['to', 'first_name', 'last_name']
const linesOf = (typed: string): string[] => typed.split(/\r?\n/).filter((line) => line.trim() !== '')

/** The cells of a line of CSV, with commas, semicolons or tabs between them. */
function cellsOf(line: string): string[] {
  const cells = [...line.matchAll(/(?:^|[,;\t])\s*(?:"((?:[^"]|"")*)"|([^,;\t]*))/g)]
  return cells.map(([, quoted, plain]) => (quoted === undefined ? (plain ?? '').trim() : quoted.replaceAll('""', '"')))
}

const hasNames = (cells: readonly string[]): boolean => cells[0]?.toLowerCase() === 'to'

export function recipientsIn(typed: string): Recipient[] {
  const rows = linesOf(typed).map(cellsOf)
  const [head] = rows
  const isNamed = head !== undefined && hasNames(head)
  const names = isNamed ? head.map((name, at) => (at === 0 ? 'to' : name)) : usual
  return (isNamed ? rows.slice(1) : rows).map((cells) => recipientOf(names, cells))
}

function recipientOf(names: readonly string[], cells: readonly string[]): Recipient {
  const filled = names.map((name, at) => [name, cells[at] ?? ''] as const).filter(([, value]) => value !== '')
  const variables = filled.filter(([name]) => !usual.includes(name))
  const known = Object.fromEntries(filled.filter(([name]) => usual.includes(name)))
  return { to: '', ...known, ...(variables.length === 0 ? {} : { variables: Object.fromEntries(variables) }) }
}

/** How many there are, without making them. */
export function recipientCount(typed: string): number {
  const lines = linesOf(typed)
  return lines[0] !== undefined && hasNames(cellsOf(lines[0])) ? lines.length - 1 : lines.length
}

/** Stored recipients as lines. */
export function recipientLines(recipients: readonly Recipient[]): string {
  const variables = [...new Set(recipients.flatMap((one) => Object.keys(one.variables ?? {})))]
  const isPlain = variables.length === 0
  const lines = recipients.map((one) => {
    const cells = [
      one.to,
      one.first_name ?? '',
      one.last_name ?? '',
      ...variables.map((name) => String(one.variables?.[name] ?? '')),
    ]
    return cells
      .map(written)
      .join(',')
      .replace(isPlain ? /,+$/ : /(?!)/, '')
  })
  return (isPlain ? lines : [[...usual, ...variables].join(','), ...lines]).join('\n')
}

const written = (cell: string): string => (/[",;\t]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
