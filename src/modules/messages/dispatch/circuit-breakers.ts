/**
 * Circuits: how the providers of channels have answered lately. While one fails again and again, or takes no more of the channel for now, the channel is paused: its messages wait, and one
 * goes as a probe now and then (behaviour: messages 7.8, 7.11).
 */
import type { Platform } from '../../../platform/platform.ts'
import type { LimitOn, Outcome } from '../../../providers/provider.ts'
import type { MessageRow } from '../message.ts'

type Whose = Pick<MessageRow, 'account_id' | 'mode' | 'channel_id' | 'channel_type'>

/** As much of an outcome as tells whether the provider was there, took the channel's credentials, and takes more of it. */
export type Told = Pick<Outcome, 'kind'> & {
  readonly channel_lost?: boolean
  readonly limit_on?: LimitOn
  readonly retry_after_ms?: number
  readonly provider_code?: string | null
}

/** The hand-over that told it. */
export interface Tried {
  readonly began_ms: number
  readonly now_ms: number
  readonly to?: string
  /** It went while the channel was paused, to try its provider. */
  readonly probe?: boolean
}

/** While a channel is paused: since when, or since when its link was tried by somebody; when the next probe may go, and how many went. */
interface Paused extends Whose {
  open_ms: number
  probe_ms: number
  probes: number
  /** For which try of its link the pause began anew. */
  tried_ms?: number
}

/** A channel whose provider has failed and not answered since; it is paused once it has failed often enough. */
export interface Failing extends Paused {
  /** Hand-overs in a row that did not reach it, or had no answer. */
  failures: number
  /** When the first of them began, or when the link was tried after that. */
  since_ms: number
  last_ms: number
}

/** A channel whose provider throttles it. */
interface Throttled extends Paused {
  /** Throttled in a row: the first hand-over, and the probes since. */
  times: number
}

/** A pause as other processes are told of it. */
export interface Pause extends Whose {
  readonly until_ms: number
  readonly times: number
}

/** What an answer made of the pause of a channel. */
export interface PauseTold extends Pause {
  /** The channel sent at its pace until now: it goes on slower. False where it was paused before, and is for longer. */
  readonly begins: boolean
}

/** Which message a paused channel lets through next, of those that were handed over least often. */
export type ProbeChoice = 'oldest' | 'newest'

export interface Circuits {
  /**
   * Notes what a hand-over told of a live channel's provider; yields the pause that begins with it, or that it makes longer, and `over` where a pause for throttling ends. What a provider
   * tells when it is asked says nothing of whether it takes messages, and is not noted, unless it throttles.
   */
  note(whose: Whose, told: Told, tried: Tried): PauseTold | 'over' | null
  /** Another process that dispatched the channel was throttled; false where that is known, or over. */
  adopt(pause: Pause, now_ms: number): boolean
  /** How many of the wanted hand-overs may begin now. */
  allows(channel_id: string, now_ms: number, wanted: number): number
  /** Hand-overs begin: while the channel is paused, a probe goes. */
  begins(channel_id: string, now_ms: number): void
  /** What was to go as a probe was not handed over after all: another may go instead. */
  notHandedOver(channel_id: string, now_ms: number): void
  /** Whether the channel is paused, until a probe is answered. */
  isOpen(channel_id: string): boolean
  /** By turns the message that waits longest and the one that came last, so that whatever keeps failing waits at one end alone. */
  choice(channel_id: string): ProbeChoice
  /** Whether the channel is paused, and its next probe is not due. */
  waits(channel_id: string, now_ms: number): boolean
  /** When a paused channel lets its next probe through; null where it is not paused. */
  probeAt(channel_id: string): number | null
  /** Channels whose providers have failed for half a minute without a success, and since they were last found here. */
  outOfReach(now_ms: number): Failing[]
  /** The link was tried and stands: half a minute begins anew. */
  reached(channel_id: string, now_ms: number): void
  /** Somebody has tried the link, or given new credentials, and it stood then: the next probe goes at once, unless that is known already. */
  linkTried(channel_id: string, tried_ms: number, now_ms: number): void
  /** The channel's link is gone: once it is back, one message goes first. True where a pause for throttling ends by that. */
  linkLost(channel_id: string, now_ms: number): boolean
  /** Nothing is known of it any more. */
  forget(channel_id: string): void
  /** Paused channels of which nothing was heard, and no probe was due, for half a minute. */
  quiet(now_ms: number): readonly Whose[]
  /** Those that are paused, by the reason. */
  allPaused(): { readonly failing: readonly Whose[]; readonly throttled: readonly Whose[] }
}

const failuresMax = 10
const probeFirstMs = 1000
const probeMaxMs = 30_000
/** A provider out of reach disconnects a channel after so long (behaviour: channels 4.5). */
const outOfReachMs = 30_000
/** A pause that a provider asks for has bounds: it may mean an hour, or nothing, and a channel is tried once a minute. */
const askedMinMs = 100
const askedMaxMs = 60_000
/** What stands further ahead than the longest pause was written before the clock was set back. */
const aheadMaxMs = askedMaxMs
/** A paused channel of which nothing was heard for so long, with nothing that could try its provider, tells nothing any more. */
const quietMs = 30_000
const suspectedMax = 10_000

interface State extends Pick<Platform, 'log' | 'wake'> {
  readonly failing: Map<string, Failing>
  readonly throttled: Map<string, Throttled>
  /** By channel, to whom the last message went where that was throttled, and the provider did not say on what its limit is. */
  readonly suspected: Map<string, string | undefined>
  /** Until when other processes paused a channel, as far as this one has heard of it. */
  readonly adopted_ms: Map<string, number>
}

/** Of one process: a live channel is dispatched by one at a time. */
export function circuits({ log, wake }: Pick<Platform, 'log' | 'wake'>): Circuits {
  const state: State = {
    failing: new Map(),
    throttled: new Map(),
    suspected: new Map(),
    adopted_ms: new Map(),
    log,
    wake,
  }
  const { failing, throttled } = state
  return {
    note: (whose, told, tried) => note(state, whose, told, tried),
    adopt: (pause, now_ms) => adopt(state, pause, now_ms),
    allows(channel_id, now_ms, wanted) {
      const open = openOne(state, channel_id)
      if (open === undefined) return wanted
      return waits(open, now_ms) ? 0 : Math.min(wanted, 1)
    },
    begins(channel_id, now_ms) {
      const open = openOne(state, channel_id)
      if (open === undefined) return
      open.probes += 1
      // of a channel that is throttled the next one goes when this one is answered, or is not in the time that it has
      open.probe_ms = now_ms + ('times' in open ? probeMaxMs : growing(open.probes + 1))
    },
    notHandedOver(channel_id, now_ms) {
      const open = openOne(state, channel_id)
      if (open === undefined) return
      open.probes = Math.max(0, open.probes - 1)
      open.probe_ms = Math.min(open.probe_ms, now_ms)
    },
    isOpen: (channel_id) => openOne(state, channel_id) !== undefined,
    choice: (channel_id) => ((openOne(state, channel_id)?.probes ?? 0) % 2 === 0 ? 'oldest' : 'newest'),
    waits(channel_id, now_ms) {
      const open = openOne(state, channel_id)
      return open !== undefined && waits(open, now_ms)
    },
    probeAt: (channel_id) => openOne(state, channel_id)?.probe_ms ?? null,
    outOfReach: (now_ms) =>
      [...failing.values()].filter(({ since_ms, last_ms }) => now_ms - since_ms >= outOfReachMs && last_ms >= since_ms),
    reached(channel_id, now_ms) {
      const one = failing.get(channel_id)
      // what has not failed often needs no remembering: its provider can be reached
      if (one !== undefined && isOpen(one)) one.since_ms = now_ms
      else failing.delete(channel_id)
    },
    linkTried(channel_id, tried_ms, now_ms) {
      const open = openOne(state, channel_id)
      if (open === undefined || tried_ms === open.tried_ms) return
      if (tried_ms <= open.open_ms && !isAhead(open.open_ms, now_ms)) return
      log.info(
        { channel_id, probes: open.probes },
        'the link of a channel that is paused was tried, and stands; one of its messages goes at once',
      )
      if ('times' in open) Object.assign(open, { open_ms: now_ms, probe_ms: now_ms, probes: 0, tried_ms })
      else failing.set(channel_id, { ...openedNow(open, now_ms), tried_ms })
    },
    linkLost(channel_id, now_ms) {
      const open = openOne(state, channel_id)
      if (open === undefined) failing.delete(channel_id)
      else failing.set(channel_id, openedNow(open, now_ms))
      return throttled.delete(channel_id)
    },
    forget(channel_id) {
      for (const map of [failing, throttled, state.suspected]) map.delete(channel_id)
    },
    quiet: (now_ms) => [
      ...openOnes(state).filter(({ last_ms, open_ms }) => isQuiet(Math.max(last_ms, open_ms), now_ms)),
      ...[...throttled.values()].filter(({ probe_ms, open_ms }) => isQuiet(Math.max(probe_ms, open_ms), now_ms)),
    ],
    allPaused: () => ({ failing: openOnes(state), throttled: [...throttled.values()] }),
  }
}

function note(
  state: State,
  whose: Whose,
  told: Told,
  { began_ms, now_ms, to, probe = false }: Tried,
): PauseTold | 'over' | null {
  const { failing, throttled, suspected } = state
  const { channel_id } = whose
  if (told.kind === 'unavailable' || told.kind === 'unknown') {
    return fail(state, whose, told.kind, { began_ms, now_ms, probe }) ? 'over' : null
  }
  if (told.channel_lost === true) {
    failing.set(channel_id, openedNow(whose, now_ms))
    return throttled.delete(channel_id) ? 'over' : null
  }
  if (failing.size > 0) succeed(state, channel_id)
  if (told.kind === 'throttled' && isOfChannel(state, channel_id, told, to))
    return throttle(state, whose, told, { now_ms, probe })
  if (told.kind !== 'throttled' && suspected.size > 0) suspected.delete(channel_id)
  if (!probe || !throttled.has(channel_id)) return null
  endThrottling(state, throttled.get(channel_id)!, now_ms)
  return 'over'
}

const begun = ({ account_id, mode, channel_id, channel_type }: Whose, since_ms: number): Failing => {
  return {
    account_id,
    mode,
    channel_id,
    channel_type,
    failures: 0,
    since_ms,
    last_ms: 0,
    open_ms: 0,
    probe_ms: 0,
    probes: 0,
  }
}

/** One whose first probe goes at once. */
const openedNow = (whose: Whose, now_ms: number): Failing => ({
  ...begun(whose, now_ms),
  failures: failuresMax,
  open_ms: now_ms,
  probe_ms: now_ms,
})

/** How long after the n-th time the next one may go. */
const growing = (times: number): number => Math.min(probeFirstMs * 2 ** Math.min(times - 1, 10), probeMaxMs)

const isOpen = ({ failures }: Failing): boolean => failures >= failuresMax

const openOnes = ({ failing }: State): Failing[] => (failing.size === 0 ? [] : [...failing.values()].filter(isOpen))

function openOne({ failing, throttled }: State, channel_id: string): Failing | Throttled | undefined {
  // most of the time no provider fails or throttles
  if (throttled.size > 0) {
    const one = throttled.get(channel_id)
    if (one !== undefined) return one
  }
  if (failing.size === 0) return undefined
  const one = failing.get(channel_id)
  return one !== undefined && isOpen(one) ? one : undefined
}

const isAhead = (at_ms: number, now_ms: number): boolean => at_ms - now_ms > aheadMaxMs

const waits = ({ probe_ms }: Paused, now_ms: number): boolean => now_ms < probe_ms && !isAhead(probe_ms, now_ms)

const isQuiet = (last_ms: number, now_ms: number): boolean => now_ms - last_ms >= quietMs || isAhead(last_ms, now_ms)

function succeed(state: State, channel_id: string): void {
  const one = state.failing.get(channel_id)
  if (one === undefined) return
  state.failing.delete(channel_id)
  if (!isOpen(one)) return
  state.log.info({ channel_id, probes: one.probes }, 'the provider of a channel answers again; its messages go on')
  state.wake('dispatch')
}

/** True where a pause for throttling becomes one of a provider that fails. */
function fail(
  { failing, throttled, log }: State,
  whose: Whose,
  outcome: Told['kind'],
  { began_ms, now_ms, probe }: Required<Omit<Tried, 'to'>>,
): boolean {
  const { account_id, channel_id } = whose
  const one = failing.get(channel_id) ?? begun(whose, began_ms)
  failing.set(channel_id, one)
  one.failures += 1
  if (isAhead(one.since_ms, now_ms)) one.since_ms = now_ms
  one.last_ms = now_ms
  // one message is enough to try with as it is
  const wasThrottled = probe && throttled.delete(channel_id)
  if (wasThrottled && one.failures < failuresMax) one.failures = failuresMax
  else if (one.failures !== failuresMax) return wasThrottled
  one.open_ms = now_ms
  one.probe_ms = now_ms + probeFirstMs
  log.warn(
    { account_id, channel_id, failures: one.failures, outcome },
    'the provider of a channel fails again and again; its messages wait, and one goes now and then',
  )
  return wasThrottled
}

/** Whether the limit is on all of the channel, as far as the provider says, or as what came before it tells. */
function isOfChannel(
  { suspected, throttled }: State,
  channel_id: string,
  { limit_on }: Told,
  to: string | undefined,
): boolean {
  if (limit_on !== 'unspecified' || throttled.has(channel_id)) return limit_on !== 'recipient'
  const known = suspected.has(channel_id)
  const before = suspected.get(channel_id)
  if (!known && suspected.size >= suspectedMax) suspected.clear()
  suspected.set(channel_id, to)
  return known && before !== to
}

function throttle(
  { throttled, suspected, log }: State,
  whose: Whose,
  { retry_after_ms = 0, provider_code = null }: Told,
  { now_ms, probe }: Pick<Required<Tried>, 'now_ms' | 'probe'>,
): PauseTold | null {
  const { account_id, mode, channel_id, channel_type } = whose
  suspected.delete(channel_id)
  const asked_ms = retry_after_ms > 0 ? Math.min(Math.max(retry_after_ms, askedMinMs), askedMaxMs) : 0
  const known = throttled.get(channel_id)
  // what was under way when the pause began is answered with it, and counts once
  const times = known === undefined ? 1 : probe ? known.times + 1 : known.times
  const own_ms = known !== undefined && !probe ? 0 : times === 1 && asked_ms > 0 ? 0 : growing(times)
  const until_ms = now_ms + Math.max(asked_ms, own_ms)
  if (known !== undefined && !probe && until_ms <= known.probe_ms) return null
  const one = known ?? { account_id, mode, channel_id, channel_type, open_ms: now_ms, probe_ms: 0, probes: 0, times: 0 }
  throttled.set(channel_id, one)
  one.times = times
  one.probe_ms = until_ms
  if (known === undefined)
    log.warn(
      { account_id, channel_id, provider_code, wait_ms: until_ms - now_ms },
      'the provider of a channel takes no more of it for now; its messages wait',
    )
  // what went as a probe tells nothing of the pace before
  return { account_id, mode, channel_id, channel_type, until_ms, times, begins: known === undefined && !probe }
}

function endThrottling(
  { throttled, log, wake }: State,
  { account_id, channel_id, open_ms, probes }: Throttled,
  now_ms: number,
): void {
  throttled.delete(channel_id)
  log.info(
    { account_id, channel_id, probes, paused_ms: now_ms - open_ms },
    'the provider of a channel takes more of it again; its messages go on, slower at first',
  )
  wake('dispatch')
}

function adopt({ throttled, adopted_ms }: State, { until_ms, times, ...whose }: Pause, now_ms: number): boolean {
  const { channel_id } = whose
  if (throttled.has(channel_id) || now_ms - until_ms >= quietMs || until_ms <= (adopted_ms.get(channel_id) ?? 0))
    return false
  if (adopted_ms.size >= suspectedMax) adopted_ms.clear()
  adopted_ms.set(channel_id, until_ms)
  throttled.set(channel_id, {
    ...whose,
    open_ms: now_ms,
    probe_ms: Math.min(until_ms, now_ms + askedMaxMs),
    probes: 0,
    times,
  })
  return true
}
