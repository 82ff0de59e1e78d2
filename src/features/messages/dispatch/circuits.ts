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
  /** While the circuit is open: since when, or since when its link was tried by somebody; when the next probe may go, and how many went. */
  open_ms: number
  probe_ms: number
  probes: number
}

/** Which message an open circuit lets through next, of those that were handed over least often. */
export type ProbeChoice = 'oldest' | 'newest'

export interface Circuits {
  /** Notes what a hand-over, or a question, told of a live channel's provider. */
  note(whose: Whose, outcome: Told, began_ms: number, now_ms: number): void
  /** How many of the wanted hand-overs may begin now. */
  allows(channel_id: string, now_ms: number, wanted: number): number
  /** Hand-overs begin: while the circuit is open, a probe goes. */
  begins(channel_id: string, now_ms: number): void
  /** What was to go as a probe was not handed over after all: another may go instead. */
  notHandedOver(channel_id: string, now_ms: number): void
  isOpen(channel_id: string): boolean
  /** By turns the message that waits longest and the one that came last, so that whatever keeps failing waits at one end alone. */
  choice(channel_id: string): ProbeChoice
  /** When an open circuit lets its next probe through; null while it is closed. */
  probeAt(channel_id: string): number | null
  /** Channels whose providers have failed for half a minute without a success, and since they were last found here. */
  outOfReach(now_ms: number): Failing[]
  /** The link was tried and stands: half a minute begins anew. */
  reached(channel_id: string, now_ms: number): void
  /** Somebody has tried the link, or given new credentials, and it stood then: the next probe goes at once, unless that is known already. */
  linkTried(channel_id: string, tried_ms: number, now_ms: number): void
  /** The channel's link is gone: once it is back, one message goes first. */
  linkLost(channel_id: string, now_ms: number): void
  /** Nothing is known of it any more. */
  forget(channel_id: string): void
  /** Those that are open. */
  allOpen(): readonly Failing[]
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
      if (kind === 'unavailable' || kind === 'unknown') fail(state, whose, kind, began_ms, now_ms)
      else if (channel_lost === true) failing.set(whose.channel_id, openedNow(whose, now_ms))
      else if (failing.size > 0) succeed(state, whose.channel_id)
    },
    allows(channel_id, now_ms, wanted) {
      const open = openOne(state, channel_id)
      if (open === undefined) return wanted
      return now_ms < open.probe_ms ? 0 : Math.min(wanted, 1)
    },
    begins(channel_id, now_ms) {
      const open = openOne(state, channel_id)
      if (open === undefined) return
      open.probes += 1
      open.probe_ms = now_ms + Math.min(probeFirstMs * 2 ** Math.min(open.probes, 10), probeMaxMs)
    },
    notHandedOver(channel_id, now_ms) {
      const open = openOne(state, channel_id)
      if (open === undefined) return
      open.probes = Math.max(0, open.probes - 1)
      open.probe_ms = Math.min(open.probe_ms, now_ms)
    },
    isOpen: (channel_id) => openOne(state, channel_id) !== undefined,
    choice: (channel_id) => ((openOne(state, channel_id)?.probes ?? 0) % 2 === 0 ? 'oldest' : 'newest'),
    probeAt: (channel_id) => openOne(state, channel_id)?.probe_ms ?? null,
    outOfReach: (now_ms) => [...failing.values()].filter(({ since_ms, last_ms }) => now_ms - since_ms >= outOfReachMs && last_ms >= since_ms),
    reached(channel_id, now_ms) {
      const open = openOne(state, channel_id)
      // what has not failed often needs no remembering: its provider can be reached
      if (open === undefined) failing.delete(channel_id)
      else open.since_ms = now_ms
    },
    linkTried(channel_id, tried_ms, now_ms) {
      const open = openOne(state, channel_id)
      if (open === undefined || tried_ms <= open.open_ms) return
      // clocks of processes may differ a little
      failing.set(channel_id, { ...openedNow(open, now_ms), open_ms: Math.max(tried_ms, now_ms) })
      log.info({ channel_id, probes: open.probes }, 'the link of a channel whose provider fails was tried, and stands; one of its messages goes at once')
    },
    linkLost(channel_id, now_ms) {
      const open = openOne(state, channel_id)
      if (open === undefined) failing.delete(channel_id)
      else failing.set(channel_id, openedNow(open, now_ms))
    },
    forget: (channel_id) => void failing.delete(channel_id),
    allOpen: () => (failing.size === 0 ? [] : [...failing.values()].filter(isOpen)),
  }
}

const begun = ({ account_id, mode, channel_id, channel_type }: Whose, since_ms: number): Failing => {
  return { account_id, mode, channel_id, channel_type, failures: 0, since_ms, last_ms: 0, open_ms: 0, probe_ms: 0, probes: 0 }
}

/** One whose first probe goes at once. */
const openedNow = (whose: Whose, now_ms: number): Failing => ({ ...begun(whose, now_ms), failures: failuresMax, open_ms: now_ms, probe_ms: now_ms })

const isOpen = ({ failures }: Failing): boolean => failures >= failuresMax

function openOne({ failing }: State, channel_id: string): Failing | undefined {
  // most of the time no provider fails
  if (failing.size === 0) return undefined
  const one = failing.get(channel_id)
  return one !== undefined && isOpen(one) ? one : undefined
}

function succeed(state: State, channel_id: string): void {
  const open = openOne(state, channel_id)
  state.failing.delete(channel_id)
  if (open === undefined) return
  state.log.info({ channel_id, probes: open.probes }, 'the provider of a channel answers again; its messages go on')
  state.wake('dispatch')
}

function fail({ failing, log }: State, whose: Whose, outcome: Told['kind'], began_ms: number, now_ms: number): void {
  const { account_id, channel_id } = whose
  const one = failing.get(channel_id) ?? begun(whose, began_ms)
  failing.set(channel_id, one)
  one.failures += 1
  one.last_ms = now_ms
  if (one.failures !== failuresMax) return
  one.open_ms = now_ms
  one.probe_ms = now_ms + probeFirstMs
  log.warn(
    { account_id, channel_id, failures: failuresMax, outcome },
    'the provider of a channel fails again and again; its messages wait, and one goes now and then',
  )
}
