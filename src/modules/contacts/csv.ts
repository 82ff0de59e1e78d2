/** CSV output (RFC 4180), streamed page by page, with cells guarded against formula injection. */
import { Readable } from 'node:stream'

const formula = /^[=+\-@\t\r]/
/** What an import would take a guard off: it gets one more. */
const guarded = /^'+[=+\-@\t\r]/
const e164 = /^\+[1-9]\d{6,14}$/

/** Text with an apostrophe before it where a spreadsheet would compute it; phone numbers in E.164 excepted. */
export const guard = (text: string): string =>
  (formula.test(text) && !e164.test(text)) || guarded.test(text) ? `'${text}` : text

/** A cell as it was before it was guarded. */
export const unguarded = (cell: string): string =>
  cell.charCodeAt(0) === 39 /* ' */ && guarded.test(cell) ? cell.slice(1) : cell

/** One record with its line end. Cells are guarded and quoted as needed. */
export function csvLine(cells: readonly string[], delimiter = ','): string {
  let line = ''
  for (let at = 0; at < cells.length; at++) {
    const cell = guard(cells[at]!)
    if (at > 0) line += delimiter
    line += /["\r\n\t;,]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
  }
  return `${line}\r\n`
}

/** What has begun cannot be refused any more: its next rows wait longer for their turn, after which it breaks off. */
export const pageWaitMs = 60_000

export interface CsvColumn<R> {
  readonly name: string
  cell(row: R): string
}

export interface CsvPage<R> {
  readonly rows: readonly R[]
  /** Reads the page behind it; null: this is the last. */
  readonly next: (() => Promise<CsvPage<R>>) | null
}

/** A line of names, and one for each row. */
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
