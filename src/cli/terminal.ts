/** Terminal input and output: closed pipes, questions, progress lines, and work that runs until Ctrl-C. */
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { OperatorError } from '../lib/operator-error.ts'

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Throws PipeClosed once the reader of standard output is gone. */
  out(text: string): void
  err(text: string): void
  /** Absent without a terminal. Rejects with an OperatorError when the input ends. */
  readonly ask?: (question: Question) => Promise<string>
  /** Whether `out` is a terminal, where a line can be overwritten. */
  readonly rewrites?: boolean
}

export interface Question {
  readonly text: string
  readonly hidden: boolean
}

/** The reader of the pipe is gone: the command ends silently. */
export class PipeClosed extends Error {}

/** Throws PipeClosed once the pipe is closed. */
export function writerTo(stream: NodeJS.WriteStream): (text: string) => void {
  let isGone = false
  whenClosed(stream, () => (isGone = true))
  return (text) => {
    if (isGone) throw new PipeClosed()
    stream.write(text)
  }
}

/** The reader of standard error does not matter. */
export function errorWriterTo(stream: NodeJS.WriteStream): (text: string) => void {
  whenClosed(stream, () => undefined)
  return (text) => void stream.write(text)
}

function whenClosed(stream: NodeJS.WriteStream, then: () => void): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    then()
  })
}

/** The signal aborts at Ctrl-C, SIGTERM, and when the reader of standard output is gone. */
export async function untilStopped<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const end = new AbortController()
  const stop = () => end.abort()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
  process.stdout.once('error', stop)
  try {
    return await work(end.signal)
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop)
    process.stdout.off('error', stop)
  }
}

export function questions(input: NodeJS.ReadStream, shown: NodeJS.WriteStream): NonNullable<Terminal['ask']> {
  return async ({ text, hidden }) => {
    let muted = false
    const output = new Writable({
      write(chunk: Buffer, _encoding, done) {
        if (!muted) shown.write(chunk)
        done()
      },
    })
    const lines = createInterface({ input, output, terminal: true })
    const ended = new Promise<never>((_resolve, reject) => {
      lines.once('close', () => reject(new OperatorError('The input ended: nothing was changed.')))
    })
    try {
      const answer = lines.question(text)
      muted = hidden
      return await Promise.race([answer, ended])
    } finally {
      ended.catch(() => undefined)
      lines.close()
      if (hidden) shown.write('\n')
    }
  }
}

const rewriteEveryMs = 200
const lineEveryMs = 5_000

export interface ProgressReporter {
  report(line: string): void
  end(): void
}

export function progressReporter({ err, rewrites }: Pick<Terminal, 'err' | 'rewrites'>): ProgressReporter {
  let reportedAt = performance.now() - (rewrites === true ? rewriteEveryMs : 0)
  let isOpen = false
  return {
    report(line) {
      const now = performance.now()
      if (now - reportedAt < (rewrites === true ? rewriteEveryMs : lineEveryMs)) return
      reportedAt = now
      isOpen = rewrites === true
      err(isOpen ? `\r${line}\u001B[K` : `${line}\n`)
    },
    end() {
      if (isOpen) err('\r\u001B[K')
      isOpen = false
    },
  }
}

/** `1.4 MB` */
export function bytesText(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`
}
