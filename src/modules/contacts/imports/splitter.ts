/**
 * Splits CSV text into chunks that end with a record (RFC 4180: a quoted cell may contain line ends), so that each chunk can be applied by itself.
 * Splits records only; `cells.ts` splits cells by the same rules.
 */

/** Some complete records of the file. */
export interface Chunk {
  readonly text: string
  /** The row number of the first record as a spreadsheet counts: the header is row 1, blank lines count. */
  readonly first_row: number
  /** Records that are not blank. */
  readonly rows: number
}

export interface SplitterOptions {
  /** Characters that end cells. */
  readonly delimiters: string
  /** A chunk ends at this many rows, */
  readonly rows_max: number
  /** or this many characters. */
  readonly chunk_length: number
  /** A longer record means an unclosed quote, or a file that is not CSV. */
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

/** A record with such a character is not blank; as in `cells.ts`. */
const notBlank = /[^ \t\r]/
const [quote, lineFeed, carriageReturn, space, tab] = [34, 10, 13, 32, 9]

/** Returns chunks as text arrives; `end` returns the rest. */
export class Splitter {
  readonly #options: SplitterOptions
  readonly #delimiters: readonly number[]
  #kept = ''
  /** Positions in `#kept`: where scanning continues, and where the current record started. */
  #at = 0
  #recordAt = 0
  #state: 'cell_start' | 'plain' | 'quoted' | 'quote_in_quoted' = 'cell_start'
  #holdsAnything = false
  #rows = 0
  /** Row numbers of the next chunk and of the current record. */
  #firstRow: number
  #row: number

  constructor(options: SplitterOptions, firstRow: number) {
    this.#options = options
    this.#delimiters = [...options.delimiters].map((delimiter) => delimiter.charCodeAt(0))
    this.#firstRow = this.#row = firstRow
  }

  /** Throws `SplitError` for a record that is too long. */
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

  /** Throws `SplitError` for an unclosed quote. */
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

  /** The position after the next record, or null when more text is needed. */
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

/** The delimiter that the header uses most, outside quotes: comma, semicolon or tab. */
export function delimiterOf(header: string): string {
  const bare = header.replaceAll(/"([^"]|"")*"/g, '')
  const counts = [',', ';', '\t'].map((delimiter) => ({ delimiter, count: bare.split(delimiter).length - 1 }))
  return counts.reduce((best, other) => (other.count > best.count ? other : best)).delimiter
}
