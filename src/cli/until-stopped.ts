/** Work that goes on until somebody ends it. */

/** The signal aborts at Ctrl-C, at SIGTERM, and where nobody reads standard output any more. Resolves and rejects as the work does. */
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
