/**
 * The PostgreSQL driver, repaired while it is loaded. postgres 3.4.9, its newest release, mishandles a connection that dies: a
 * late write ends the process (its issue 1208), what was left half-written keeps the connection from ever working again, and a
 * transaction that outlives its connection goes on inside another one's (1216). Each repair names the text it replaces, so
 * that a release which changes that text is noticed at once. Three changes are for speed: no Nagle, the warmest connection first, and queries that are collected
 * young; one lets metrics see how the pool is used.
 */
import { registerHooks } from 'node:module'
import type postgres from 'postgres'

interface Repair {
  readonly file: string
  readonly text: string
  readonly by: string
}

const repairs: readonly Repair[] = [
  {
    // a write after the end is answered to whoever waits for it
    file: '/postgres/src/connection.js',
    text: `    const x = socket.write(chunk, fn)
    nextWriteTimer !== null && clearImmediate(nextWriteTimer)
    chunk = nextWriteTimer = null
    return x`,
    by: `    nextWriteTimer !== null && clearImmediate(nextWriteTimer)
    nextWriteTimer = null
    const bytes = chunk
    chunk = null
    if (socket !== null) return socket.write(bytes, fn)
    error(Errors.connection('CONNECTION_CLOSED', options, socket))
    query = null
    return true`,
  },
  {
    // nothing of the dead connection is left for the next one on the same object
    file: '/postgres/src/connection.js',
    text: `    !hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))`,
    by: `    ;(query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))
    query = errorResponse = chunk = nextWriteTimer = null
    result = new Result()`,
  },
  {
    // a connection that dies while it learns the types of arrays refuses its query, and that is all
    file: '/postgres/src/connection.js',
    text: `        return fetchArrayTypes()`,
    by: `        return void fetchArrayTypes().catch(() => undefined)`,
  },
  {
    // a transaction ends with its connection: what it asks afterwards is refused
    file: '/postgres/src/index.js',
    text: `        new Promise((_, reject) => connection.onclose = reject)`,
    by: `        new Promise((_, reject) => {
          const gone = (e) => {
            lost = e
            while (queries.length) queries.shift().reject(e)
            reject(e)
          }
          connection.onclose = gone
        })`,
  },
  { file: '/postgres/src/index.js', text: `      , prepare = null\n`, by: `      , prepare = null\n      , lost = null\n` },
  {
    file: '/postgres/src/index.js',
    text: `        q.catch(e => uncaughtError || (uncaughtError = e))
        c.queue === full`,
    by: `        q.catch(e => uncaughtError || (uncaughtError = e))
        lost ? q.reject(lost) : c.queue === full`,
  },
  {
    // small writes are not held back until the server has acknowledged the ones before
    file: '/postgres/src/connection.js',
    text: `      keep_alive && socket.setKeepAlive && `,
    by: `      socket.setNoDelay && socket.setNoDelay(true)
      keep_alive && socket.setKeepAlive && `,
  },
  {
    // the connection used last is used next: its statements are planned and its memory is warm, and those beyond what is needed stay idle
    file: '/postgres/src/queue.js',
    text: `    push: (x) => (xs.push(x), x),`,
    by: `    push: (x) => (xs.push(x), x),
    pop: () => {
      const out = xs.pop()
      if (index === xs.length) {
        index = 0
        xs = []
      }
      return out
    },`,
  },
  { file: '/postgres/src/index.js', text: `      return go(open.shift(), query)`, by: `      return go(open.pop(), query)` },
  { file: '/postgres/src/index.js', text: `      ? open.shift()\n`, by: `      ? open.pop()\n` },
  {
    // so does a reservation, and a dead connection is not given back as a living one
    file: '/postgres/src/index.js',
    text: `    c.reserved.release = true
`,
    by: `    c.reserved.release = true
    let lost = null
    const gone = (e) => {
      lost = e
      while (queue.length) queue.shift().reject(e)
    }
    c.onclose = gone
`,
  },
  {
    file: '/postgres/src/index.js',
    text: `    sql.release = () => {
      c.reserved = null`,
    by: `    sql.release = () => {
      if (lost) return
      c.onclose = null
      c.reserved = null`,
  },
  {
    file: '/postgres/src/index.js',
    text: `    function handler(q) {
      c.queue === full
        ? queue.push(q)`,
    by: `    function handler(q) {
      lost ? q.reject(lost) : c.queue === full
        ? queue.push(q)`,
  },
  {
    // V8 puts a function literal that is assigned to a property among what is old at once, and whatever it holds on to waits for a full collection: here the rows of
    // every query. From a constant it is young like anything else (docs/decisions/bounded-heap.md).
    file: '/postgres/src/query.js',
    text: `    this.resolve = x => (this.active = false, resolve(x))
    this.reject = x => (this.active = false, reject(x))

    this.active`,
    by: `    const resolved = x => (this.active = false, resolve(x))
    const rejected = x => (this.active = false, reject(x))
    this.resolve = resolved
    this.reject = rejected

    this.active`,
  },
  {
    // how the pool is used can be seen
    file: '/postgres/src/index.js',
    text: `    options,
    reserve,
`,
    by: `    options,
    use: () => ({ in_use: busy.length + full.length + reserved.length, waiting: queries.length, max: options.max }),
    reserve,
`,
  },
]

/** The text of a file of the driver with its repairs; throws when one of them finds nothing to repair. */
export function repaired(url: string, source: string): string {
  return repairs
    .filter(({ file }) => url.endsWith(file))
    .reduce((text, { text: old, by }) => {
      if (text.split(old).length !== 2) throw new Error(`the driver has changed: src/platform/database/driver.ts does not find\n${old}`)
      return text.replace(old, () => by)
    }, source)
}

const hooks = registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    if (!/\/node_modules\/postgres\/src\/(index|connection|query|queue)\.js$/.test(url) || loaded.source === undefined || loaded.source === null) return loaded
    const source = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source)
    return { ...loaded, source: repaired(url, source) }
  },
})

export const driver: typeof postgres = (await import('postgres')).default
hooks.deregister()
