/** Questions on a terminal: what is secret is typed unseen. They go to standard error, so that results can be piped on. */
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { OperatorError } from '../lib/operator-error.ts'
import type { Terminal } from './program.ts'

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
