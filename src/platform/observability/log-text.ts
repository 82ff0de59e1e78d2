/** A line of the log as a person reads it: time, level, sentence, then what belongs to it. */
import type { DestinationStream } from 'pino'
import { printable } from '../../lib/printable.ts'

/** Turns the JSON lines that are written to it into readable ones. */
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

/** A text that says by itself where it ends stands without quotes. */
const shown = (value: unknown, bare = plain): string =>
  printable(typeof value === 'string' && bare.test(value) ? value : JSON.stringify(value))
