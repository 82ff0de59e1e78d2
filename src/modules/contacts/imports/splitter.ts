/** Splits CSV text into chunks of whole records (RFC 4180), by the rules of `cells.ts`. */

export interface Chunk {
  readonly text: string
  /** As in a spreadsheet: the header is row 1, blank lines count. */
  readonly first_row: number
  readonly rows: number
}

export interface SplitterOptions {
  readonly delimiters: string
  readonly rows_max: number
  readonly chunk_length: number
  /** A longer record means an unclosed quote, or no CSV. */
  readonly record_length_max: number
}

export class SplitError extends Error {
  readonly row: number
  constructor(row: number, message: string) {
    super(message)
    this.row = row
  }
}

const notBlank = /[^ \t\r]/
const [quote, lineFeed, carriageReturn, space, tab] = [34, 10, 13, 32, 9]

/** Returns chunks as text arrives; `end` returns the rest. */
export class Splitter {
  readonly #options: SplitterOptions
  readonly #delimiters: readonly number[]
  #buffered = ''
  #at = 0
  #recordAt = 0
  #state: 'cell_start' | 'plain' | 'quoted' | 'quote_in_quoted' = 'cell_start'
  #holdsAnything = false
  #rows = 0
  #firstRow: number
  #row: number

  constructor(options: SplitterOptions, firstRow: number) {
    this.#options = options
    this.#delimiters = [...options.delimiters].map((delimiter) => delimiter.charCodeAt(0))
    this.#firstRow = this.#row = firstRow
  }

  push(text: string): Chunk[] {
    this.#buffered += text
    const chunks: Chunk[] = []
    let start = 0
    for (let end = this.#recordEnd(); end !== null; end = this.#recordEnd()) {
      this.#recordAt = end
      if (this.#rows < this.#options.rows_max && end - start < this.#options.chunk_length) continue
      chunks.push(...this.#chunk(start, end))
      start = end
    }
    if (this.#buffered.length - this.#recordAt > this.#options.record_length_max) {
      const reason =
        this.#state === 'quoted'
          ? 'does not end: a quote was opened there and not closed, or the file is no CSV.'
          : `has more than ${this.#options.record_length_max} characters, which no contact can hold. Shorten it or leave it out.`
      throw new SplitError(this.#row, `Row ${this.#row} ${reason}`)
    }
    this.#buffered = this.#buffered.slice(start)
    this.#at -= start
    this.#recordAt -= start
    return chunks
  }

  end(): Chunk[] {
    if (this.#state === 'quoted')
      throw new SplitError(this.#row, `The file ends inside a quoted cell of row ${this.#row}: close its quote.`)
    if (this.#recordAt < this.#buffered.length) this.#closeRecord()
    const chunks = this.#chunk(0, this.#buffered.length)
    this.#buffered = ''
    return chunks
  }

  #chunk(start: number, end: number): Chunk[] {
    const chunk: Chunk = { text: this.#buffered.slice(start, end), first_row: this.#firstRow, rows: this.#rows }
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

  #recordEnd(): number | null {
    const text = this.#buffered
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

export function delimiterOf(header: string): string {
  const bare = header.replaceAll(/"([^"]|"")*"/g, '')
  const counts = [',', ';', '\t'].map((delimiter) => ({ delimiter, count: bare.split(delimiter).length - 1 }))
  return counts.reduce((best, other) => (other.count > best.count ? other : best)).delimiter
}
