/** Structured logs (JSON lines on standard error). Nothing secret is ever logged: no keys, no bodies, no recipients. */
import { pino, destination, type Logger } from 'pino'

export type Log = Logger
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'

/** A logger on standard error, so that standard output stays for what a command prints. */
export const makeLog = (level: LogLevel): Log =>
  pino({ level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` }, destination({ dest: 2, sync: false }))
