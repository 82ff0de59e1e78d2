/** Collects the error codes that tests provoked over HTTP. */
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { consoleErrorCatalogue } from '../../src/api/console-errors.ts'
import { errorCatalogue } from '../../src/api/errors.ts'

const variable = 'POSTHORN_TEST_PROVOKED'
const seen = new Set<string>()

export function noteError(operation: string, status: number, code: unknown): void {
  const folder = process.env[variable]
  const line = `${operation} ${status} ${String(code)}`
  if (folder === undefined || seen.has(line)) return
  seen.add(line)
  appendFileSync(join(folder, String(process.pid)), `${line}\n`)
}

export interface Provoked {
  readonly env: Readonly<Record<string, string>>
  /** Removes the files; returns the codes that no test provoked. */
  close(): string[]
}

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

export function unprovoked(codes: ReadonlySet<string>): string[] {
  return Object.entries({ ...errorCatalogue, ...consoleErrorCatalogue }).flatMap(([code, { status }]) =>
    codes.has(code) ? [] : [`${code} (${status}) was provoked by no test over HTTP`],
  )
}
