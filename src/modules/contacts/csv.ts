/** CSV output (RFC 4180), streamed by page, guarded against formula injection. */
import { Readable } from 'node:stream'

const formula = /^[=+\-@\t\r]/
/** An import would unguard these, so they get one more apostrophe. */
const guarded = /^'+[=+\-@\t\r]/
const e164 = /^\+[1-9]\d{6,14}$/

export const guard = (text: string): string =>
  (formula.test(text) && !e164.test(text)) || guarded.test(text) ? `'${text}` : text

export const unguarded = (cell: string): string =>
  cell.charCodeAt(0) === 39 /* ' */ && guarded.test(cell) ? cell.slice(1) : cell

export function csvLine(cells: readonly string[], delimiter = ','): string {
  let line = ''
  for (let at = 0; at < cells.length; at++) {
    const cell = guard(cells[at]!)
    if (at > 0) line += delimiter
    line += /["\r\n\t;,]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
  }
  return `${line}\r\n`
}

/** A started download cannot be refused, so later pages wait longer. */
export const pageWaitMs = 60_000

export interface CsvColumn<R> {
  readonly name: string
  cell(row: R): string
}

export interface CsvPage<R> {
  readonly rows: readonly R[]
  readonly next: (() => Promise<CsvPage<R>>) | null
}

export const csvStream = <R>(columns: readonly CsvColumn<R>[], first: CsvPage<R>): Readable =>
  Readable.from(lines(columns, first), { objectMode: false })

async function* lines<R>(columns: readonly CsvColumn<R>[], first: CsvPage<R>): AsyncGenerator<string> {
  yield csvLine(columns.map(({ name }) => name))
  for (let page = first; ; page = await page.next()) {
    let text = ''
    for (const row of page.rows) text += csvLine(columns.map(({ cell }) => cell(row)))
    if (text !== '') yield text
    if (page.next === null) return
  }
}
