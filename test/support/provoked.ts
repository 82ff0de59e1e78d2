/**
 * Which errors the tests of a run have provoked over HTTP: every client of the kit writes down what it was answered, each process into a file of its own, and
 * at the end of a run of all tests the error catalogue is held against that.
 */
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { consoleErrorCatalogue } from '../../src/api/console-errors.ts'
import { errorCatalogue } from '../../src/api/errors.ts'

const variable = 'POSTHORN_TEST_PROVOKED'
const seen = new Set<string>()

/** Notes an error that an operation was answered with, when the run asks for it. */
export function noteError(operation: string, status: number, code: unknown): void {
  const folder = process.env[variable]
  const line = `${operation} ${status} ${String(code)}`
  if (folder === undefined || seen.has(line)) return
  seen.add(line)
  appendFileSync(join(folder, String(process.pid)), `${line}\n`)
}

export interface Provoked {
  /** What the processes of the run need in their environment. */
  readonly env: Readonly<Record<string, string>>
  /** One line for each thing that is wrong: a code that was never provoked. Removes what was written down. */
  close(): string[]
}

/** Begins to collect what the tests of a run provoke. */
export function collectErrors(): Provoked {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-provoked-'))
  return {
    env: { [variable]: folder },
    close() {
      const lines = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'))
      rmSync(folder, { recursive: true, force: true })
      return unprovoked(new Set(lines.map((line) => line.split(' ').at(-1)!)))
    },
  }
}

/** What is wrong with these codes. */
export function unprovoked(codes: ReadonlySet<string>): string[] {
  return Object.entries({ ...errorCatalogue, ...consoleErrorCatalogue }).flatMap(([code, { status }]) =>
    codes.has(code) ? [] : [`${code} (${status}) was provoked by no test over HTTP`],
  )
}
