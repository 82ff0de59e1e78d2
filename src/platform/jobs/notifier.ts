/** The notifier: wakes workers of this process at once and those of other processes by NOTIFY. An accelerator only: workers poll as well. */
import { listen, type Listening } from '../database/pool.ts'
import type { Pool } from '../database/sql.ts'

const channel = 'posthorn'
/** Every worker. */
const all = '*'

export interface Notifier {
  /** Wakes these names here and in other processes; every name when none is given. */
  notify(...names: string[]): void
  /** Wakes these names in this process alone. */
  wake(...names: string[]): void
  /** Calls `listener` whenever the name is woken. */
  on(name: string, listener: () => void): void
  /** Calls `listener` whenever notifications may have been missed. */
  onMissed(listener: () => void): void
  /** Resolves once other processes have been notified of everything so far; for commands, which do not `open`. */
  flush(): Promise<void>
  /** Starts to hear other processes. */
  open(): Promise<void>
  close(): Promise<void>
}

/** `me` names this process, so that it does not hear itself twice. While it is `alone` nobody else is told: there is nobody who would hear it. */
export function notifier(pool: Pool, me: string, alone: () => boolean = () => false): Notifier {
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
    // one NOTIFY for all that is woken while another is under way
    while (outbox.size > 0) {
      const payload = `${me} ${[...outbox].join(',')}`
      outbox.clear()
      await pool`select pg_notify(${channel}, ${payload})`.catch(() => undefined) // an accelerator: workers poll as well
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
