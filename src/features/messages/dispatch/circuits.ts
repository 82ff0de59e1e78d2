/** Circuits: how the providers of channels have answered lately. One that fails again and again gets a probe now and then, and the other messages wait (behaviour: messages 7.8). */
import type { Platform } from '../../../platform/platform.ts'
import type { Outcome } from '../../channels/adapter.ts'
import type { MessageRow } from '../rows.ts'

type Whose = Pick<MessageRow, 'account_id' | 'mode' | 'channel_id' | 'channel_type'>

/** As much of an outcome as tells whether the provider was there, and took the channel's credentials. */
export type Told = Pick<Outcome, 'kind'> & { readonly channel_lost?: boolean }

/** A channel whose provider has failed and not answered since. */
export interface Failing extends Whose {
  /** Hand-overs in a row that did not reach it, or had no answer. */
  failures: number
  /** When the first of them began, or when the link was tried after that. */
  since_ms: number
  last_ms: number
  /** While the circuit is open: when the next probe may go, and how many went. */
  probe_ms: number
  probes: number
}

export interface Circuits {
  /** Notes what a hand-over, or a question, told of a live channel's provider. */
  note(whose: Whose, outcome: Told, began_ms: number, now_ms: number): void
  /** How many of the wanted hand-overs may begin now; a probe that is granted counts as gone. */
  take(channel_id: string, now_ms: number, wanted: number): number
  isOpen(channel_id: string): boolean
  /** When an open circuit lets its next probe through; null while it is closed. */
  probeAt(channel_id: string): number | null
  /** Channels whose providers have failed for half a minute without a success, and since they were last found here. */
  outOfReach(now_ms: number): Failing[]
  /** The link was tried and stands: half a minute begins anew. */
  reached(channel_id: string, now_ms: number): void
  /** The channel's link is gone: once it is back, one message goes first. */
  linkLost(channel_id: string, now_ms: number): void
  /** Nothing is known of it any more. */
  forget(channel_id: string): void
  /** Open ones by channel type. */
  open(): Map<string, number>
}

const failuresMax = 10
const probeFirstMs = 1000
const probeMaxMs = 30_000
/** A provider out of reach disconnects a channel after so long (behaviour: channels 4.5). */
const outOfReachMs = 30_000

interface State extends Pick<Platform, 'log' | 'wake'> {
  readonly failing: Map<string, Failing>
}

/** Of one process: a live channel is dispatched by one at a time. */
export function circuits({ log, wake }: Pick<Platform, 'log' | 'wake'>): Circuits {
  const failing = new Map<string, Failing>()
  const state: State = { failing, log, wake }
  return {
    note(whose, { kind, channel_lost }, began_ms, now_ms) {
      if (kind === 'unavailable' || kind === 'unknown') fail(state, whose, began_ms, now_ms)
      else if (channel_lost === true) failing.set(whose.channel_id, { ...begun(whose, now_ms), failures: failuresMax, probe_ms: now_ms })
      else if (failing.size > 0) succeed(state, whose.channel_id)
    },
    take: (channel_id, now_ms, wanted) => take(openOne(state, channel_id), now_ms, wanted),
    isOpen: (channel_id) => openOne(state, channel_id) !== undefined,
    probeAt: (channel_id) => openOne(state, channel_id)?.probe_ms ?? null,
    outOfReach: (now_ms) => [...failing.values()].filter(({ since_ms, last_ms }) => now_ms - since_ms >= outOfReachMs && last_ms >= since_ms),
    reached(channel_id, now_ms) {
      const open = openOne(state, channel_id)
      // what has not failed often needs no remembering: its provider can be reached
      if (open === undefined) failing.delete(channel_id)
      else open.since_ms = now_ms
    },
    linkLost(channel_id, now_ms) {
      const open = openOne(state, channel_id)
      if (open === undefined) failing.delete(channel_id)
      else failing.set(channel_id, { ...begun(open, now_ms), failures: failuresMax, probe_ms: now_ms })
    },
    forget: (channel_id) => void failing.delete(channel_id),
    open() {
      const open = [...failing.values()].filter(({ channel_id }) => openOne(state, channel_id) !== undefined)
      return new Map([...Map.groupBy(open, ({ channel_type }) => channel_type)].map(([type, some]) => [type, some.length]))
    },
  }
}

const begun = ({ account_id, mode, channel_id, channel_type }: Whose, since_ms: number): Failing => {
  return { account_id, mode, channel_id, channel_type, failures: 0, since_ms, last_ms: 0, probe_ms: 0, probes: 0 }
}

function openOne({ failing }: State, channel_id: string): Failing | undefined {
  // most of the time no provider fails
  if (failing.size === 0) return undefined
  const one = failing.get(channel_id)
  return one !== undefined && one.failures >= failuresMax ? one : undefined
}

function take(open: Failing | undefined, now_ms: number, wanted: number): number {
  if (open === undefined || wanted === 0) return wanted
  if (now_ms < open.probe_ms) return 0
  open.probes += 1
  open.probe_ms = now_ms + Math.min(probeFirstMs * 2 ** Math.min(open.probes, 10), probeMaxMs)
  return 1
}

function succeed(state: State, channel_id: string): void {
  const open = openOne(state, channel_id)
  state.failing.delete(channel_id)
  if (open === undefined) return
  state.log.info({ channel_id, probes: open.probes }, 'the provider of a channel answers again; its messages go on')
  state.wake('dispatch')
}

function fail({ failing, log }: State, whose: Whose, began_ms: number, now_ms: number): void {
  const { channel_id } = whose
  const one = failing.get(channel_id) ?? begun(whose, began_ms)
  failing.set(channel_id, one)
  one.failures += 1
  one.last_ms = now_ms
  if (one.failures !== failuresMax) return
  one.probe_ms = now_ms + probeFirstMs
  log.warn({ channel_id, failures: failuresMax }, 'the provider of a channel fails again and again; its messages wait, and one goes now and then')
}
