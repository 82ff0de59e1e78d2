/** Open consoles: signed-in sessions with event streams. */
import type { Service } from './service.ts'

const owner = { email: 'owner@example.com', password: 'a horse with a battery' }
/** The service's limit (behaviour: console 8.2). */
const streamsOfSession = 20

export interface OpenConsoles extends AsyncDisposable {
  /** Throws if one is closed or none received an event. */
  verify(): void
}

export async function openConsoles(service: Service, count: number): Promise<OpenConsoles> {
  const ending = new AbortController()
  const streams: { chunks: number; ended: string | undefined }[] = []
  const done: Promise<void>[] = []
  for (let opened = 0; opened < count; opened += streamsOfSession) {
    const cookie = await signIn(service, opened === 0)
    for (let n = opened; n < Math.min(count, opened + streamsOfSession); n++) {
      const stream = { chunks: 0, ended: undefined as string | undefined }
      streams.push(stream)
      done.push(listen(service, cookie, ending.signal, stream))
    }
  }
  return {
    verify() {
      const closed = streams.find(({ ended }) => ended !== undefined)
      if (closed !== undefined) throw new Error(`a console's stream is closed: ${closed.ended}`)
      if (count > 0 && streams.some(({ chunks }) => chunks === 0)) throw new Error('a console received no event')
    },
    async [Symbol.asyncDispose]() {
      ending.abort()
      await Promise.all(done)
    },
  }
}

async function signIn({ port, setup_url }: Service, isFirst: boolean): Promise<string> {
  if (setup_url === undefined) throw new Error('the service printed no link for the first owner: is the console built?')
  const body = isFirst ? { token: new URL(setup_url).hash.slice(1), name: 'Olivia Owner', ...owner } : owner
  const answer = await fetch(`http://127.0.0.1:${port}/console/api/${isFirst ? 'setup' : 'session'}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'service-console': '1' },
    body: JSON.stringify(body),
  })
  const cookie = answer.headers.get('set-cookie')
  if (!answer.ok || cookie === null) throw new Error(`signing in answered ${answer.status}: ${await answer.text()}`)
  return cookie.split(';', 1)[0]!
}

async function listen(
  { port, account_id }: Service,
  cookie: string,
  signal: AbortSignal,
  stream: { chunks: number; ended: string | undefined },
): Promise<void> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/console/api/stream?account=${account_id}&mode=live`, {
      headers: { cookie },
      signal,
    })
    if (!answer.ok) throw new Error(`it answered ${answer.status}`)
    for await (const _chunk of answer.body!) stream.chunks++
    stream.ended = 'the service ended it'
  } catch (error) {
    if (!signal.aborted) stream.ended = (error as Error).message
  }
}
