/** Writing where somebody may have stopped reading: `posthorn events tail | head -1` ends quietly (behaviour: command-line 1). */

/** Thrown by what writes to a pipe whose reader is gone: the command unwinds, and nothing is said of it. */
export class ReaderGone extends Error {}

/** Writes to standard output. Throws ReaderGone once the other end of the pipe is closed. */
export function writerTo(stream: NodeJS.WriteStream): (text: string) => void {
  let isGone = false
  whenGone(stream, () => (isGone = true))
  return (text) => {
    if (isGone) throw new ReaderGone()
    stream.write(text)
  }
}

/** Writes to standard error: what a command does counts, whoever reads of it. */
export function tellerTo(stream: NodeJS.WriteStream): (text: string) => void {
  whenGone(stream, () => undefined)
  return (text) => void stream.write(text)
}

function whenGone(stream: NodeJS.WriteStream, then: () => void): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    then()
  })
}
