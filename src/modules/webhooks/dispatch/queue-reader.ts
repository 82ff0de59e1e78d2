/** Reads due deliveries ahead for sessions whose buffers run low. */
import type { Pool } from '../../../platform/database/sql.ts'
import { endWithoutEvent } from '../delivery-repository.ts'
import { prefetchOf, jobOf, type EndpointSessions } from './endpoint-sessions.ts'
import type { EventBodies } from './event-bodies.ts'
import { readDue, type DueRow, type ReadAhead } from './repository.ts'

export interface QueueReaderDeps {
  readonly pool: Pool
  readonly sessions: EndpointSessions
  readonly bodies: EventBodies
  readonly begin: () => void
}

export class QueueReader {
  readonly #deps: QueueReaderDeps
  #reading: Promise<void> | undefined
  #stopped = false

  constructor(deps: QueueReaderDeps) {
    this.#deps = deps
  }

  get isReading(): boolean {
    return this.#reading !== undefined
  }

  /** Until no buffer is low. One read at a time. */
  readMore(): Promise<void> {
    this.#reading ??= this.#readUntilEnough()
    return this.#reading
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#reading?.catch(() => undefined)
  }

  async #readUntilEnough(): Promise<void> {
    // must not end before it is stored as the current read
    await Promise.resolve()
    try {
      for (let wanted = this.#runningLow(); wanted.length > 0; wanted = this.#runningLow()) {
        await this.#read(wanted)
        this.#deps.begin()
      }
    } finally {
      // nothing is awaited since the last check, so buffers that run low now start the next read
      this.#reading = undefined
    }
  }

  #runningLow(): ReadAhead[] {
    const { sessions } = this.#deps
    const wanted: ReadAhead[] = []
    for (const session of this.#stopped || sessions.capacity() <= 0 ? [] : sessions.all()) {
      const ahead = prefetchOf(session)
      if (!session.active || !session.more || session.buffer.length > ahead / 2) continue
      const limit = ahead - session.buffer.length + (session.after === '' ? session.loaded.size : 0)
      wanted.push({ endpoint_id: session.endpoint_id, after: session.after, limit })
    }
    return wanted
  }

  async #read(wanted: readonly ReadAhead[]): Promise<void> {
    const { sessions } = this.#deps
    const { read, released } = await sessions.whileReading(() => this.#readWithBodies(wanted))
    const byEndpoint = Map.groupBy(read.rows, (row) => row.endpoint_id)
    for (const want of wanted) {
      const session = sessions.get(want.endpoint_id)
      if (session === undefined) continue
      const found = byEndpoint.get(want.endpoint_id) ?? []
      session.more = found.length === want.limit
      session.after = session.more ? found.at(-1)!.id : ''
      // released: recorded meanwhile, or to be read again
      const fresh = found.filter((row) => !session.loaded.has(row.id) && !released.has(row.id) && !read.gone.has(row))
      sessions.enqueue(session, fresh.map(jobOf))
    }
  }

  /** `gone`: their events are deleted. */
  async #readWithBodies(wanted: readonly ReadAhead[]): Promise<{ rows: DueRow[]; gone: ReadonlySet<DueRow> }> {
    const { pool, bodies } = this.#deps
    const rows = await readDue(pool, wanted)
    const gone = await bodies.load(rows)
    if (gone.length > 0) await endWithoutEvent(pool, gone)
    return { rows, gone: new Set(gone) }
  }
}
