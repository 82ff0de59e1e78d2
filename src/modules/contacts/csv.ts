/** CSV output (RFC 4180), streamed page by page, with cells guarded against formula injection. */
import { Readable } from 'node:stream'

const formula = /^[=+\-@\t\r]/
/** Cells that an import would unguard: they get one more apostrophe. */
const guarded = /^'+[=+\-@\t\r]/
const e164 = /^\+[1-9]\d{6,14}$/

/** Prefixes text with an apostrophe where a spreadsheet would run it as a formula; E.164 numbers excepted. */
export const guard = (text: string): string =>
  (formula.test(text) && !e164.test(text)) || guarded.test(text) ? `'${text}` : text

/** Removes the guard. */
export const unguarded = (cell: string): string =>
  cell.charCodeAt(0) === 39 /* ' */ && guarded.test(cell) ? cell.slice(1) : cell

/** One record with its line end. */
export function csvLine(cells: readonly string[], delimiter = ','): string {
  let line = ''
  for (let at = 0; at < cells.length; at++) {
    const cell = guard(cells[at]!)
    if (at > 0) line += delimiter
    line += /["\r\n\t;,]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
  }
  return `${line}\r\n`
}

/** A started download cannot be refused any more: later pages wait longer for their turn before it is aborted. */
export const pageWaitMs = 60_000

export interface CsvColumn<R> {
  readonly name: string
  cell(row: R): string
}

export interface CsvPage<R> {
  readonly rows: readonly R[]
  /** Reads the next page; null: this is the last. */
  readonly next: (() => Promise<CsvPage<R>>) | null
}

/** A header line, then one line per row. Memory holds one page, however slowly the client reads. */
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
