/** Checks and splits an uploaded CSV file as it streams. Memory stays at a few chunks. */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { invalid, Problem } from '../../../api/problem.ts'
import { importLimits } from '../../../api/resources/contact-import.ts'
import { formOverhead, isForm, readForm, receiving, unknownField } from '../../../platform/http/form.ts'
import { readRows } from './cells.ts'
import { delimiterOf, SplitError, Splitter, type Chunk } from './splitter.ts'

export interface UploadOptions {
  readonly consent_declared?: string | undefined
  readonly default_country?: string | undefined
  readonly columns?: string | undefined
  readonly file_name?: string | undefined
}

export interface UploadedFile {
  readonly file_name: string | null
  readonly delimiter: string
  readonly header: readonly string[]
  readonly bytes: number
  readonly total: number
  /** Base64url. */
  readonly sha256: string
}

export interface UploadTarget {
  readonly bytes_max: number
  readonly rows_per_chunk: number
  /** May throw a Problem. Form fields after the file are not read yet. */
  onHeader(header: readonly string[], options: UploadOptions): void
  /** Resolves when the next chunk may be read, which may be before the write. */
  write(chunk: Chunk, number: number): Promise<void>
}

/** Rejects with the Problem for the caller, and discards the rest of the body. */
export const receiveFile = (
  request: IncomingMessage,
  queryOptions: UploadOptions,
  target: UploadTarget,
): Promise<{ file: UploadedFile; options: UploadOptions }> =>
  receiving(request, async () => {
    const type = request.headers['content-type'] ?? ''
    if (Number(request.headers['content-length'] ?? 0) > target.bytes_max + formOverhead)
      throw tooLarge(target.bytes_max)
    if (/^text\/csv\b/i.test(type))
      return {
        file: await readFile(
          request.iterator({ destroyOnReturn: false }),
          queryOptions.file_name ?? null,
          queryOptions,
          target,
        ),
        options: queryOptions,
      }
    if (isForm(request)) return await receiveForm(request, queryOptions, target)
    throw new Problem(
      'invalid_json',
      'Send the file with the header Content-Type: text/csv, or as the field `file` of multipart/form-data.',
    )
  })

const formFields: readonly string[] = ['consent_declared', 'default_country', 'columns']

async function receiveForm(
  request: IncomingMessage,
  queryOptions: UploadOptions,
  target: UploadTarget,
): Promise<{ file: UploadedFile; options: UploadOptions }> {
  const fields: Record<string, string> = {}
  let begun = false
  const file = await readForm(request, {
    field(name, value) {
      const known = formFields.includes(name)
      if (!known || (begun && name !== 'consent_declared')) return misplaced(name, known)
      fields[name] = value
      return null
    },
    file(chunks, file_name) {
      begun = true
      return readFile(chunks, queryOptions.file_name ?? file_name, { ...queryOptions, ...fields }, target)
    },
  })
  if (file === undefined) throw invalid('file', 'missing_field', 'The form has no field `file`. Put the CSV there.')
  return { file, options: { ...queryOptions, ...fields } }
}

function misplaced(name: string, known: boolean): Problem {
  if (known) return invalid(name, 'invalid_value', `The field ${name} must stand before the file in the form.`)
  if (name === 'file')
    return invalid(
      'file',
      'invalid_type',
      'The field `file` holds no file. Send it with a file name, as `-F file=@people.csv` does.',
    )
  return unknownField(name, 'file, consent_declared, default_country and columns')
}

async function readFile(
  chunks: AsyncIterable<unknown>,
  file_name: string | null,
  options: UploadOptions,
  target: UploadTarget,
): Promise<UploadedFile> {
  const reader = new FileReader(options, target)
  for await (const chunk of chunks) await reader.push(chunk as Buffer)
  return { file_name: file_name === null ? null : file_name.slice(0, 255), ...(await reader.end()) }
}

class FileReader {
  readonly #options: UploadOptions
  readonly #target: UploadTarget
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  readonly #hash = createHash('sha256')
  #bytes = 0
  #total = 0
  #chunks = 0
  #head = ''
  #splitter: Splitter | undefined
  #header: string[] = []
  #headerRow = 1
  /** From a `sep=` line. */
  #named: string | undefined
  #delimiter = ','

  constructor(options: UploadOptions, target: UploadTarget) {
    this.#options = options
    this.#target = target
  }

  async push(chunk: Buffer): Promise<void> {
    if (this.#bytes === 0) refuseOtherEncodings(chunk)
    this.#bytes += chunk.length
    this.#hash.update(chunk)
    if (this.#bytes > this.#target.bytes_max) throw tooLarge(this.#target.bytes_max)
    await this.#take(this.#decode(chunk))
  }

  async end(): Promise<Omit<UploadedFile, 'file_name'>> {
    await this.#take(this.#decode())
    if (this.#splitter === undefined && this.#head.trim() === '')
      throw unreadable('too_short', 'The file is empty. Its first row must name the columns.')
    if (this.#splitter === undefined) await this.#take('\n')
    if (this.#splitter === undefined)
      throw fileProblem('invalid_format', 'The first row does not end: a quote was opened in it and not closed.')
    await this.#write(this.#cut(() => this.#splitter!.end()))
    return {
      delimiter: this.#delimiter,
      header: this.#header,
      bytes: this.#bytes,
      total: this.#total,
      sha256: this.#hash.digest('base64url'),
    }
  }

  #decode(chunk?: Buffer): string {
    try {
      const text = chunk === undefined ? this.#decoder.decode() : this.#decoder.decode(chunk, { stream: true })
      if (!text.includes('\0')) return text
    } catch {
      throw unreadable(
        'invalid_format',
        `The file is not valid UTF-8 near byte ${this.#bytes - (chunk?.length ?? 0)}. Save it as CSV in UTF-8.`,
      )
    }
    throw unreadable(
      'invalid_format',
      'The file holds NUL characters, so it is no CSV. Save the sheet as CSV in UTF-8.',
    )
  }

  async #take(text: string): Promise<void> {
    if (this.#splitter !== undefined) return await this.#write(this.#cut(() => this.#splitter!.push(text)))
    this.#head += text
    const end = endOfRecord(this.#head)
    if (end === null) {
      if (this.#head.length > importLimits.record_length_max)
        throw fileProblem(
          'invalid_format',
          'The first row does not end: it must name the columns, and rows must end with a line feed.',
        )
      return
    }
    const remainder = this.#head.slice(end)
    const named = this.#headerRow === 1 ? separatorLine.exec(this.#head.slice(0, end))?.[1] : undefined
    if (named !== undefined) {
      this.#named = named
      this.#headerRow = 2
      this.#head = remainder
      return await this.#take('')
    }
    this.#readHeader(this.#head.slice(0, end))
    this.#splitter = new Splitter(
      {
        delimiters: this.#delimiter,
        rows_max: this.#target.rows_per_chunk,
        chunk_length: chunkLength,
        record_length_max: importLimits.record_length_max,
      },
      this.#headerRow + 1,
    )
    this.#head = ''
    await this.#take(remainder)
  }

  #readHeader(text: string): void {
    if (text.trim() === '') throw unreadable('invalid_format', 'The first row is blank. It must name the columns.')
    if (/\r(?!\n|$)/.test(text.replaceAll(/"[^"]*"/g, '')))
      throw fileProblem(
        'invalid_format',
        'The rows end with carriage returns alone. Save the sheet as CSV in UTF-8, whose rows end with a line feed.',
      )
    this.#delimiter = this.#named ?? delimiterOf(text)
    const [row] = this.#cut(() => readRows({ text, first_row: 1 }, this.#delimiter))
    if (row === undefined || row.broken !== undefined)
      throw fileProblem('invalid_format', `The first row cannot be read. ${row?.broken ?? ''}`)
    if (row.cells.length > importLimits.columns_max)
      throw fileProblem(
        'too_many',
        `The file has ${row.cells.length} columns; ${importLimits.columns_max} are the most.`,
      )
    const last = row.cells.findLastIndex((cell) => cell.trim() !== '')
    this.#header = row.cells.slice(0, last + 1).map((cell) => cell.trim())
    this.#target.onHeader(this.#header, this.#options)
  }

  #cut<T>(cut: () => T): T {
    try {
      return cut()
    } catch (error) {
      if (error instanceof SplitError) throw fileProblem('invalid_format', error.message)
      throw error
    }
  }

  async #write(chunks: readonly Chunk[]): Promise<void> {
    for (const chunk of chunks) {
      this.#total += chunk.rows
      await this.#target.write(chunk, this.#chunks)
      this.#chunks += 1
    }
  }
}

const chunkLength = 256 * 1024

/** Tells Excel the delimiter. */
const separatorLine = /^sep=([,;\t|])\r?\n$/i

/** Outside quotes. */
function endOfRecord(text: string): number | null {
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 34) quoted = !quoted
    else if (code === 10 && !quoted) return at + 1
  }
  return null
}

const fileProblem = (code: 'invalid_format' | 'too_short' | 'too_many', message: string): Problem =>
  invalid('file', code, message)

export class UnreadableFile extends Problem {}

function unreadable(code: 'invalid_format' | 'too_short', message: string): UnreadableFile {
  return new UnreadableFile('parameter_invalid', message, {
    param: 'file',
    details: [{ param: 'file', code, message }],
  })
}

const tooLarge = (bytes_max: number): Problem =>
  new Problem(
    'payload_too_large',
    `The file is larger than ${sizeText(bytes_max)}, which is what an import takes. Split it.`,
  )

const sizeText = (bytes: number): string => (bytes % 1024 ** 2 === 0 ? `${bytes / 1024 ** 2} MB` : `${bytes} bytes`)

function refuseOtherEncodings(chunk: Buffer): void {
  if ((chunk[0] === 0xff && chunk[1] === 0xfe) || (chunk[0] === 0xfe && chunk[1] === 0xff))
    throw unreadable('invalid_format', 'The file is UTF-16. Save it as CSV in UTF-8.')
  if (chunk[0] === 0x50 && chunk[1] === 0x4b && chunk[2] === 3)
    throw unreadable('invalid_format', 'The file is a spreadsheet or an archive. Save the sheet as CSV in UTF-8.')
}
