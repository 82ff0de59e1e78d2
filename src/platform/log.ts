/** Structured logs (JSON lines on standard error). Nothing secret is ever logged: no keys, no bodies, no addresses of people. */
import { pino, destination, type DestinationStream, type Logger } from 'pino'

export type Log = Logger
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'

/** A logger on standard error, so that standard output stays for what a command prints. */
export const makeLog = (level: LogLevel, stream: DestinationStream = destination({ dest: 2, sync: false })): Log =>
  pino({ level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"`, serializers: { err: loggedError } }, stream)

const causesMax = 3

/** An error without what a database adds to it about the row in hand: its values are the tenants'. */
function loggedError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { type: typeof error }
  const { code, constraint_name, table_name } = error as { code?: unknown; constraint_name?: unknown; table_name?: unknown }
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
