/** Streams file uploads in the field `file` of a multipart form. */
import busboy from 'busboy'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { invalid, Problem } from '../../api/problem.ts'

export interface FormReader<T> {
  field(name: string, value: string): Problem | null
  /** Rejects with the Problem for the client. */
  file(chunks: AsyncIterable<unknown>, file_name: string | null): Promise<T>
}

export const formOverhead = 64 * 1024

export const isForm = (request: IncomingMessage): boolean =>
  /^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '')

/** Rejects with the Problem for the client; the rest of the body is discarded. */
export async function receiving<T>(request: IncomingMessage, read: () => Promise<T>): Promise<T> {
  try {
    if (request.headers['content-encoding'] !== undefined && request.headers['content-encoding'] !== 'identity')
      throw new Problem('invalid_json', 'Send the file unpacked, without Content-Encoding.')
    return await read()
  } catch (error) {
    request.unpipe()
    request.resume() // many clients read the response only after sending the body
    if (error instanceof Problem) throw error
    if (!request.complete && (request.errored !== null || request.destroyed)) throw cutShort()
    throw error
  }
}

export async function readForm<T>(request: IncomingMessage, reader: FormReader<T>): Promise<T | undefined> {
  let reading: Promise<T> | undefined
  const form = openForm(request)
  await new Promise<void>((resolve, reject) => {
    form.on('field', (name: string | undefined, value) => {
      const refused = reader.field(name ?? '', value)
      if (refused !== null) reject(refused)
    })
    form.on('file', (name: string | undefined, stream, { filename }) => {
      stream.on('error', () => undefined) // the reader of the file gets the error
      if (name !== 'file') {
        stream.resume()
        reject(invalid((name ?? '').slice(0, 80), 'unknown_field', 'Send the file in the field `file` of the form.'))
        return
      }
      reading = reader.file(chunksOf(stream), filename ?? null)
      reading.catch((error: unknown) => {
        stream.resume()
        reject(error as Error)
      })
    })
    form.on('filesLimit', () => reject(invalid('file', 'too_many', 'Send one file at a time.')))
    form.on('error', (error) =>
      reject(
        new Problem(
          'invalid_json',
          `The form cannot be read: ${error instanceof Error ? error.message : 'it is malformed'}.`,
        ),
      ),
    )
    form.on('close', resolve)
    request.on('error', reject)
    request.on('aborted', () => reject(cutShort()))
    request.pipe(form)
  }).catch((error: unknown) => {
    request.unpipe(form)
    form.destroy() // ends the reader of the file
    throw error
  })
  return await reading
}

async function* chunksOf(stream: Readable): AsyncGenerator<unknown> {
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) yield chunk
  } catch {
    throw cutShort()
  }
}

export function unknownField(name: string, known: string): Problem {
  const shown = name.slice(0, 80)
  return invalid(
    shown,
    'unknown_field',
    `The form has a field ${JSON.stringify(shown)} that is not known here. Known are ${known}.`,
  )
}

const cutShort = (): Problem => new Problem('invalid_json', 'The body ended before it was complete. Send it again.')

function openForm(request: IncomingMessage) {
  try {
    return busboy({
      headers: request.headers,
      limits: { files: 1, fields: 20, fieldSize: 64 * 1024, parts: 30 },
      defParamCharset: 'utf8',
    })
  } catch {
    // busboy only reports a missing boundary
    throw new Problem('invalid_json', 'The header Content-Type: multipart/form-data has no boundary.')
  }
}
