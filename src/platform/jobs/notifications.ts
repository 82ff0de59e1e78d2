/** Wakes workers here at once and elsewhere by NOTIFY. Only an accelerator: workers poll as well. */
import { listen, type Listening } from '../database/pool.ts'
import type { Pool } from '../database/sql.ts'

const channel = 'posthorn'
const all = '*'

export interface Notifications {
  notify(...names: string[]): void
  wake(...names: string[]): void
  on(name: string, listener: () => void): void
  onMissed(listener: () => void): void
  /** For commands, which do not `open`. */
  flush(): Promise<void>
  open(): Promise<void>
  close(): Promise<void>
}

/** Ignores notifications of `me`, and sends none while `alone`. */
export function notificationsOf(pool: Pool, me: string, alone: () => boolean = () => false): Notifications {
  const listeners = new Map<string, (() => void)[]>()
  const missedListeners: (() => void)[] = []
  let listening: Listening | undefined
  let sending: Promise<void> | undefined
  const outbox = new Set<string>()

  const wake = (names: readonly string[]) => {
    for (const name of names.includes(all) ? listeners.keys() : names)
      for (const listener of listeners.get(name) ?? []) listener()
  }
  const sendAll = async () => {
    // one NOTIFY for all names added during the previous one
    while (outbox.size > 0) {
      const payload = `${me} ${[...outbox].join(',')}`
      outbox.clear()
      await pool`select pg_notify(${channel}, ${payload})`.catch(() => undefined)
    }
    sending = undefined
  }
  const send = (): Promise<void> => (sending ??= sendAll())
  return {
    notify(...names) {
      const wanted = names.length === 0 ? [all] : names
      wake(wanted)
      if (listening !== undefined && alone()) return
      for (const name of wanted) outbox.add(name)
      if (listening !== undefined) void send()
    },
    wake: (...names) => wake(names),
    on: (name, listener) => void listeners.set(name, [...(listeners.get(name) ?? []), listener]),
    onMissed: (listener) => void missedListeners.push(listener),
    flush: send,
    async open() {
      listening = await listen(
        pool,
        channel,
        (payload) => {
          const [sender, names = ''] = payload.split(' ')
          if (sender !== me) wake(names.split(','))
        },
        () => {
          for (const listener of missedListeners) listener()
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
