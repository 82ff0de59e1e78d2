/** A webhook receiver process: answers 200 at once, counts, and notes how old each event was. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { leanServer } from './lean-server.ts'

export interface Received {
  readonly count: number
  readonly seconds: number
  readonly p50_ms: number
  readonly p99_ms: number
}

export interface Receiver extends Disposable {
  readonly port: number
  readonly url: string
  count(): Promise<number>
  received(): Promise<Received>
  clear(): Promise<void>
}

const lagsMax = 2_000_000
const pollMs = 20
const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'

export async function startReceiver(): Promise<Receiver> {
  const child = fork(import.meta.filename, ['child'], { stdio: 'inherit', execArgv: [] })
  const ask = async <T>(question: string): Promise<T> => {
    const answer = once(child, 'message') as Promise<[T]>
    child.send(question)
    return (await answer)[0]
  }
  const port = await ask<number>('port')
  return {
    port,
    url: `http://127.0.0.1:${port}/hook`,
    count: () => ask('count'),
    received: () => ask('received'),
    clear: () => ask('clear'),
    [Symbol.dispose]: () => void (child.connected && child.disconnect()),
  }
}

export async function receivedAll(receiver: Receiver, count: number): Promise<Received> {
  let last = { count: -1, at: 0 }
  for (;;) {
    const found = await receiver.count()
    if (found >= count) return await receiver.received()
    if (found !== last.count) last = { count: found, at: performance.now() }
    else if (performance.now() - last.at > 30_000) throw new Error(`only ${found} of ${count} webhooks came`)
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

function receive(): (question: unknown) => unknown {
  const lags = new Float64Array(lagsMax)
  let count = 0
  let first = 0
  let last = 0
  const onRequest = (body: Buffer) => {
    const at = body.indexOf('"created_at":"', 0, 'latin1')
    lags[count % lagsMax] = Date.now() - Date.parse(body.toString('latin1', at + 14, at + 38))
    last = performance.now()
    if (count === 0) first = last
    count += 1
  }
  const server = leanServer((_head, body) => {
    onRequest(body)
    return answer
  }).listen(0, '127.0.0.1')
  const listening = once(server, 'listening')
  return async (question) => {
    await listening
    if (question === 'port') return (server.address() as AddressInfo).port
    if (question === 'clear') {
      count = 0
      return true
    }
    if (question === 'count') return count
    const sorted = lags.slice(0, Math.min(count, lagsMax)).toSorted()
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
    return { count, seconds: (last - first) / 1000, p50_ms: at(0.5), p99_ms: at(0.99) }
  }
}

if (process.send !== undefined && process.argv[2] === 'child') {
  const reply = receive()
  process.on('message', (question) => void Promise.resolve(reply(question)).then((answer) => process.send!(answer)))
  process.on('disconnect', () => process.exit(0))
}
