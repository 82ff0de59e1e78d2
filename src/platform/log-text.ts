/** A line of the log as a person reads it: time, level, sentence, then what belongs to it. */
import type { DestinationStream } from 'pino'

/** Turns the JSON lines that are written to it into readable ones. */
export const readable = (stream: DestinationStream): DestinationStream => ({ write: (line) => stream.write(`${textOf(line)}\n`) })

const levelWidth = 5

function textOf(line: string): string {
  const { time, level, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>
  const fields = Object.entries(rest).map(([name, value]) => `${name}=${shown(value)}`)
  const { stack, ...error } = (typeof err === 'object' && err !== null ? err : {}) as Record<string, unknown>
  if (err !== undefined) fields.push(`err=${shown(error)}`)
  const head = [String(time), String(level).toUpperCase().padEnd(levelWidth), shown(msg ?? '', /[^]/), ...fields].join(' ')
  return typeof stack === 'string'
    ? `${head}\n${stack
        .split('\n')
        .map((step) => `  ${printable(step)}`)
        .join('\n')}`
    : head
}

const plain = /^[\w.:/@+{}-]+$/

/** A text that says by itself where it ends stands without quotes. */
const shown = (value: unknown, bare = plain): string => printable(typeof value === 'string' && bare.test(value) ? value : JSON.stringify(value))

/** What moves a terminal's cursor, or turns the direction of its text, is written out: some of it comes from clients. */
const printable = (text: string): string =>
  // oxlint-disable-next-line no-control-regex
  text.replaceAll(/[\u0000-\u001F\u007F-\u009F\u200E\u200F\u2028-\u202E\u2066-\u2069]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
