/**
 * Cuts the text of a CSV file into chunks that each end with a record (RFC 4180: a quoted cell may hold line ends), so that every
 * chunk can be read, applied and forgotten by itself. Knows records, not cells; `cells.ts` reads those with the same rules.
 */

/** Some records of the file, whole. */
export interface Chunk {
  readonly text: string
  /** The row of the first record as a spreadsheet counts: the header is row 1. Blank lines count. */
  readonly first_row: number
  /** Records that hold anything. */
  readonly rows: number
}

export interface SplitterOptions {
  /** Characters at which cells end. */
  readonly delimiters: string
  /** A chunk is handed out once it has this many rows. */
  readonly rows_max: number
  /** Or this many characters. */
  readonly chunk_length: number
  /** More than this in one record is a quote that nobody closed, or no CSV. */
  readonly record_length_max: number
}

/** The file is not a CSV; `row` as in `first_row`. */
export class SplitError extends Error {
  readonly row: number
  constructor(row: number, message: string) {
    super(message)
    this.row = row
  }
}

/** What makes a record more than a blank row. The same stands in `cells.ts`. */
const notBlank = /[^ \t\r]/
const [quote, lineFeed, carriageReturn, space, tab] = [34, 10, 13, 32, 9]

/** Hands out chunks as text comes in; `end` hands out the rest. */
export class Splitter {
  readonly #options: SplitterOptions
  readonly #delimiters: readonly number[]
  #kept = ''
  /** Where in `#kept` scanning goes on, and where the record in hand began. */
  #at = 0
  #recordAt = 0
  #state: 'cell_start' | 'plain' | 'quoted' | 'quote_in_quoted' = 'cell_start'
  #holdsAnything = false
  #rows = 0
  /** Of the next chunk, and of the record in hand. */
  #firstRow: number
  #row: number

  constructor(options: SplitterOptions, firstRow: number) {
    this.#options = options
    this.#delimiters = [...options.delimiters].map((delimiter) => delimiter.charCodeAt(0))
    this.#firstRow = this.#row = firstRow
  }

  /** Throws `SplitError` when a record grows beyond its bound. */
  push(text: string): Chunk[] {
    this.#kept += text
    const chunks: Chunk[] = []
    let start = 0
    for (let end = this.#recordEnd(); end !== null; end = this.#recordEnd()) {
      this.#recordAt = end
      if (this.#rows < this.#options.rows_max && end - start < this.#options.chunk_length) continue
      chunks.push(...this.#chunk(start, end))
      start = end
    }
    if (this.#kept.length - this.#recordAt > this.#options.record_length_max) {
      const reason =
        this.#state === 'quoted'
          ? 'does not end: a quote was opened there and not closed, or the file is no CSV.'
          : `has more than ${this.#options.record_length_max} characters, which no contact can hold. Shorten it or leave it out.`
      throw new SplitError(this.#row, `Row ${this.#row} ${reason}`)
    }
    this.#kept = this.#kept.slice(start)
    this.#at -= start
    this.#recordAt -= start
    return chunks
  }

  /** Throws `SplitError` for a quote that is still open. */
  end(): Chunk[] {
    if (this.#state === 'quoted')
      throw new SplitError(this.#row, `The file ends inside a quoted cell of row ${this.#row}: close its quote.`)
    if (this.#recordAt < this.#kept.length) this.#closeRecord()
    const chunks = this.#chunk(0, this.#kept.length)
    this.#kept = ''
    return chunks
  }

  #chunk(start: number, end: number): Chunk[] {
    const chunk: Chunk = { text: this.#kept.slice(start, end), first_row: this.#firstRow, rows: this.#rows }
    this.#firstRow = this.#row
    this.#rows = 0
    return chunk.rows === 0 ? [] : [chunk]
  }

  #closeRecord(): void {
    if (this.#holdsAnything) this.#rows += 1
    this.#row += 1
    this.#state = 'cell_start'
    this.#holdsAnything = false
  }

  /** Scans on; the position behind the next record, or null when more text is needed. */
  #recordEnd(): number | null {
    const text = this.#kept
    for (let at = this.#at; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (this.#state === 'quoted') {
        const next = text.indexOf('"', at)
        if (next === -1) {
          this.#holdsAnything ||= notBlank.test(text.slice(at))
          break
        }
        this.#holdsAnything ||= notBlank.test(text.slice(at, next))
        this.#state = 'quote_in_quoted'
        at = next
      } else if (code === quote && this.#state !== 'plain') {
        this.#holdsAnything ||= this.#state === 'quote_in_quoted'
        this.#state = 'quoted'
      } else if (code === lineFeed) {
        this.#closeRecord()
        this.#at = at + 1
        return at + 1
      } else if (this.#delimiters.includes(code)) this.#state = 'cell_start'
      else if (code !== carriageReturn) {
        this.#holdsAnything ||= code !== space && code !== tab
        this.#state = 'plain'
      }
    }
    this.#at = text.length
    return null
  }
}

/** The delimiter that the header uses most: comma, semicolon or tab. Quoted cells do not count. */
export function delimiterOf(header: string): string {
  const bare = header.replaceAll(/"([^"]|"")*"/g, '')
  const counts = [',', ';', '\t'].map((delimiter) => ({ delimiter, count: bare.split(delimiter).length - 1 }))
  return counts.reduce((best, other) => (other.count > best.count ? other : best)).delimiter
}
