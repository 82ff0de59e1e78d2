/** Rows as CSV on their way out, page by page: memory holds one page, however many there are and however slowly the client reads. */
import { Readable } from 'node:stream'
import { csvLine } from './csv.ts'

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
