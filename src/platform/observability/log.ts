/**
 * Structured logs on standard error: JSON lines, or text for a terminal. Never log keys, bodies or people's addresses.
 */
import { isatty } from 'node:tty'
import { destination, pino, type DestinationStream, type Logger } from 'pino'
import { printable } from '../../lib/text.ts'

export type Log = Logger
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'

export type LogFormat = 'auto' | 'json' | 'text'

const standardError = 2
const waitingBytesMax = 16 * 1024 * 1024

export function makeLog(
  level: LogLevel,
  format: LogFormat = 'json',
  stream: DestinationStream = toStandardError(),
): Log {
  const asText = format === 'text' || (format === 'auto' && isatty(standardError))
  const timestamp = () => `,"time":"${new Date().toISOString()}"`
  const formatters = { level: (label: string) => ({ level: label }) }
  return pino(
    { level, base: null, timestamp, formatters, serializers: { err: loggedError } },
    asText ? readable(stream) : stream,
  )
}

const toStandardError = (): DestinationStream =>
  destination({ dest: standardError, sync: false, maxLength: waitingBytesMax })

const causesMax = 3

/** Removes row values from database errors, because they belong to tenants. */
function loggedError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { type: typeof error }
  const { code, constraint_name, table_name } = error as {
    code?: unknown
    constraint_name?: unknown
    table_name?: unknown
  }
  const message = withoutValues(error.message, code)
  return {
    type: error.name,
    message,
    code,
    constraint_name,
    table_name,
    stack: error.stack?.replace(error.message, message),
    cause: error.cause === undefined || depth === causesMax ? undefined : loggedError(error.cause, depth + 1),
  }
}

/** Data errors (SQLSTATE 22xxx) quote the value in their message. */
const withoutValues = (message: string, code: unknown): string =>
  typeof code === 'string' && /^22[0-9A-Z]{3}$/.test(code) ? message.replaceAll(/"[^"]*"/g, '"…"') : message

export const readable = (stream: DestinationStream): DestinationStream => ({
  write: (line) => stream.write(`${textOf(line)}\n`),
})

const levelWidth = 5

function textOf(line: string): string {
  const { time, level, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>
  const fields = Object.entries(rest).map(([name, value]) => `${name}=${shown(value)}`)
  const { stack, ...error } = (typeof err === 'object' && err !== null ? err : {}) as Record<string, unknown>
  if (err !== undefined) fields.push(`err=${shown(error)}`)
  const head = [String(time), String(level).toUpperCase().padEnd(levelWidth), shown(msg ?? '', /[^]/), ...fields].join(
    ' ',
  )
  return typeof stack === 'string'
    ? `${head}\n${stack
        .split('\n')
        .map((step) => `  ${printable(step)}`)
        .join('\n')}`
    : head
}

const plain = /^[\w.:/@+{}-]+$/

const shown = (value: unknown, bare = plain): string =>
  printable(typeof value === 'string' && bare.test(value) ? value : JSON.stringify(value))
