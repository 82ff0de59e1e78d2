/** The wake-up bell: rouses lanes of this process at once and those of other processes by NOTIFY. An accelerator only. */
import { listen, type Listening } from './database/pool.ts'
import type { Pool } from './database/sql.ts'

const channel = 'posthorn'
/** Every lane. */
const all = '*'

export interface Bell {
  /** Rings for these names here and elsewhere; for every name when none is given. */
  ring(...names: string[]): void
  /** Rings for these names in this process alone. */
  rouse(...names: string[]): void
  /** Calls `heard` at each ring for a name. */
  on(name: string, heard: () => void): void
  /** Calls `heard` whenever rings may have been missed. */
  onMissed(heard: () => void): void
  /** Resolves once other processes have been told of every ring so far; for commands, which do not `open`. */
  flush(): Promise<void>
  /** Starts to hear other processes. */
  open(): Promise<void>
  close(): Promise<void>
}

/** `me` names this process, so that it does not hear itself twice. */
export function bell(pool: Pool, me: string): Bell {
  const hearers = new Map<string, (() => void)[]>()
  const missedHearers: (() => void)[] = []
  let listening: Listening | undefined
  let sending: Promise<void> | undefined
  const outbox = new Set<string>()

  const rouse = (names: readonly string[]) => {
    for (const name of names.includes(all) ? hearers.keys() : names) for (const heard of hearers.get(name) ?? []) heard()
  }
  const sendAll = async () => {
    // one NOTIFY for all that is rung while another is under way
    while (outbox.size > 0) {
      const payload = `${me} ${[...outbox].join(',')}`
      outbox.clear()
      await pool`select pg_notify(${channel}, ${payload})`.catch(() => undefined) // an accelerator: lanes poll as well
    }
    sending = undefined
  }
  const send = (): Promise<void> => (sending ??= sendAll())
  return {
    ring(...names) {
      const rung = names.length === 0 ? [all] : names
      rouse(rung)
      for (const name of rung) outbox.add(name)
      if (listening !== undefined) void send()
    },
    rouse: (...names) => rouse(names),
    on: (name, heard) => void hearers.set(name, [...(hearers.get(name) ?? []), heard]),
    onMissed: (heard) => void missedHearers.push(heard),
    flush: send,
    async open() {
      listening = await listen(
        pool,
        channel,
        (payload) => {
          const [sender, names = ''] = payload.split(' ')
          if (sender !== me) rouse(names.split(','))
        },
        () => {
          for (const heard of missedHearers) heard()
        },
      )
    },
    async close() {
      await sending
      await listening?.stop()
      listening = undefined
    },
  }
}
