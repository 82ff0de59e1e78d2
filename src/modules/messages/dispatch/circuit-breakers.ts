/**
 * Circuit breakers: while a channel's provider fails or throttles, messages wait and single probes are sent (behaviour:
 * messages 7.8, 7.11).
 */
import type { Platform } from '../../../platform/platform.ts'
import type { LimitOn, Outcome } from '../../../providers/provider.ts'
import type { MessageRow } from '../message.ts'

type ChannelRef = Pick<MessageRow, 'account_id' | 'mode' | 'channel_id' | 'channel_type'>

export type Answer = Pick<Outcome, 'kind'> & {
  readonly channel_lost?: boolean
  readonly limit_on?: LimitOn
  readonly retry_after_ms?: number
  readonly provider_code?: string | null
}

export interface AttemptTimes {
  readonly began_ms: number
  readonly now_ms: number
  readonly to?: string
  readonly probe?: boolean
}

/** `open_ms`: when it was paused, or its connection tested since. */
interface Paused extends ChannelRef {
  open_ms: number
  probe_ms: number
  probes: number
  tested_ms?: number
}

/** Paused after `failuresMax` failures in a row. */
export interface Failing extends Paused {
  failures: number
  /** Of the first failure, or a later connection test. */
  since_ms: number
  last_ms: number
}

interface Throttled extends Paused {
  times: number
}

export interface Pause extends ChannelRef {
  readonly until_ms: number
  readonly times: number
}

export interface PauseChange extends Pause {
  /** False if a pause became longer. */
  readonly begins: boolean
}

export type ProbeChoice = 'oldest' | 'newest'

export interface CircuitBreakers {
  /** Returns a pause that begins or grows, or `over` if throttling ends. Status queries count only if throttled. */
  record(channel: ChannelRef, answer: Answer, attempt: AttemptTimes): PauseChange | 'over' | null
  /** From another process. False if the pause is known or over. */
  adopt(pause: Pause, now_ms: number): boolean
  allows(channel_id: string, now_ms: number, wanted: number): number
  /** A probe, if the channel is paused. */
  attemptBegins(channel_id: string, now_ms: number): void
  probeNotSent(channel_id: string, now_ms: number): void
  isOpen(channel_id: string): boolean
  /** Alternates, so messages that keep failing do not collect at both ends. */
  probeChoice(channel_id: string): ProbeChoice
  waits(channel_id: string, now_ms: number): boolean
  /** Null unless paused. */
  probeAt(channel_id: string): number | null
  unreachable(now_ms: number): Failing[]
  /** `unreachableMs` starts again. */
  connectionWorks(channel_id: string, now_ms: number): void
  /** Makes the next probe due; repeated calls for one test change nothing. */
  connectionTested(channel_id: string, tested_ms: number, now_ms: number): void
  /** Once the channel is back, one message is sent first. True if this ends throttling. */
  disconnected(channel_id: string, now_ms: number): boolean
  forget(channel_id: string): void
  idle(now_ms: number): readonly ChannelRef[]
  allPaused(): { readonly failing: readonly ChannelRef[]; readonly throttled: readonly ChannelRef[] }
}

const failuresMax = 10
const probeFirstMs = 1000
const probeMaxMs = 30_000
/** Then the channel is disconnected (behaviour: channels 4.5). */
const unreachableMs = 30_000
/** Of a pause that a provider requests, which may be an hour or nothing. */
const requestedMinMs = 100
const requestedMaxMs = 60_000
/** A time further ahead was written before the clock was set back. */
const aheadMaxMs = requestedMaxMs
const idleMs = 30_000
const suspectedMax = 10_000

interface State extends Pick<Platform, 'log' | 'wake'> {
  readonly failing: Map<string, Failing>
  readonly throttled: Map<string, Throttled>
  /** By channel: the recipient of the last message throttled without a named limit. */
  readonly suspected: Map<string, string | undefined>
  readonly adopted_ms: Map<string, number>
}

/** Per process: one process at a time dispatches a live channel. */
export function circuitBreakers({ log, wake }: Pick<Platform, 'log' | 'wake'>): CircuitBreakers {
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
    record: (channel, answer, attempt) => record(state, channel, answer, attempt),
    adopt: (pause, now_ms) => adopt(state, pause, now_ms),
    allows(channel_id, now_ms, wanted) {
      const open = openOne(state, channel_id)
      if (open === undefined) return wanted
      return waits(open, now_ms) ? 0 : Math.min(wanted, 1)
    },
    attemptBegins: (channel_id, now_ms) => beginProbe(state, channel_id, now_ms),
    probeNotSent: (channel_id, now_ms) => returnProbe(state, channel_id, now_ms),
    isOpen: (channel_id) => openOne(state, channel_id) !== undefined,
    probeChoice: (channel_id) => ((openOne(state, channel_id)?.probes ?? 0) % 2 === 0 ? 'oldest' : 'newest'),
    waits(channel_id, now_ms) {
      const open = openOne(state, channel_id)
      return open !== undefined && waits(open, now_ms)
    },
    probeAt: (channel_id) => openOne(state, channel_id)?.probe_ms ?? null,
    unreachable: (now_ms) =>
      [...failing.values()].filter(
        ({ since_ms, last_ms }) => now_ms - since_ms >= unreachableMs && last_ms >= since_ms,
      ),
    connectionWorks(channel_id, now_ms) {
      const one = failing.get(channel_id)
      if (one !== undefined && isOpen(one)) one.since_ms = now_ms
      else failing.delete(channel_id)
    },
    connectionTested: (channel_id, tested_ms, now_ms) => probeAfterTest(state, channel_id, tested_ms, now_ms),
    disconnected(channel_id, now_ms) {
      const open = openOne(state, channel_id)
      if (open === undefined) failing.delete(channel_id)
      else failing.set(channel_id, openedNow(open, now_ms))
      return throttled.delete(channel_id)
    },
    forget(channel_id) {
      for (const map of [failing, throttled, state.suspected]) map.delete(channel_id)
    },
    idle: (now_ms) => [
      ...openOnes(state).filter(({ last_ms, open_ms }) => isIdle(Math.max(last_ms, open_ms), now_ms)),
      ...[...throttled.values()].filter(({ probe_ms, open_ms }) => isIdle(Math.max(probe_ms, open_ms), now_ms)),
    ],
    allPaused: () => ({ failing: openOnes(state), throttled: [...throttled.values()] }),
  }
}

function beginProbe(state: State, channel_id: string, now_ms: number): void {
  const open = openOne(state, channel_id)
  if (open === undefined) return
  open.probes += 1
  // on a throttled channel the next probe waits for this answer, or its timeout
  open.probe_ms = now_ms + ('times' in open ? probeMaxMs : backoff(open.probes + 1))
}

function returnProbe(state: State, channel_id: string, now_ms: number): void {
  const open = openOne(state, channel_id)
  if (open === undefined) return
  open.probes = Math.max(0, open.probes - 1)
  open.probe_ms = Math.min(open.probe_ms, now_ms)
}

function probeAfterTest(state: State, channel_id: string, tested_ms: number, now_ms: number): void {
  const { failing, log } = state
  const open = openOne(state, channel_id)
  if (open === undefined || tested_ms === open.tested_ms) return
  if (tested_ms <= open.open_ms && !isAhead(open.open_ms, now_ms)) return
  log.info(
    { channel_id, probes: open.probes },
    'the connection of a paused channel was tested and works; a message is sent as a probe',
  )
  if ('times' in open) Object.assign(open, { open_ms: now_ms, probe_ms: now_ms, probes: 0, tested_ms })
  else failing.set(channel_id, { ...openedNow(open, now_ms), tested_ms })
}

function record(
  state: State,
  channel: ChannelRef,
  answer: Answer,
  { began_ms, now_ms, to, probe = false }: AttemptTimes,
): PauseChange | 'over' | null {
  const { failing, throttled, suspected } = state
  const { channel_id } = channel
  if (answer.kind === 'unavailable' || answer.kind === 'unknown') {
    return fail(state, channel, answer.kind, { began_ms, now_ms, probe }) ? 'over' : null
  }
  if (answer.channel_lost === true) {
    failing.set(channel_id, openedNow(channel, now_ms))
    return throttled.delete(channel_id) ? 'over' : null
  }
  if (failing.size > 0) succeed(state, channel_id)
  if (answer.kind === 'throttled' && isOfChannel(state, channel_id, answer, to))
    return throttle(state, channel, answer, { now_ms, probe })
  if (answer.kind !== 'throttled' && suspected.size > 0) suspected.delete(channel_id)
  if (!probe || !throttled.has(channel_id)) return null
  endThrottling(state, throttled.get(channel_id)!, now_ms)
  return 'over'
}

const newFailing = ({ account_id, mode, channel_id, channel_type }: ChannelRef, since_ms: number): Failing => {
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

const openedNow = (channel: ChannelRef, now_ms: number): Failing => ({
  ...newFailing(channel, now_ms),
  failures: failuresMax,
  open_ms: now_ms,
  probe_ms: now_ms,
})

const backoff = (times: number): number => Math.min(probeFirstMs * 2 ** Math.min(times - 1, 10), probeMaxMs)

const isOpen = ({ failures }: Failing): boolean => failures >= failuresMax

const openOnes = ({ failing }: State): Failing[] => (failing.size === 0 ? [] : [...failing.values()].filter(isOpen))

function openOne({ failing, throttled }: State, channel_id: string): Failing | Throttled | undefined {
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

const isIdle = (last_ms: number, now_ms: number): boolean => now_ms - last_ms >= idleMs || isAhead(last_ms, now_ms)

function succeed(state: State, channel_id: string): void {
  const one = state.failing.get(channel_id)
  if (one === undefined) return
  state.failing.delete(channel_id)
  if (!isOpen(one)) return
  state.log.info({ channel_id, probes: one.probes }, 'the provider of a channel answers again; sending continues')
  state.wake('dispatch')
}

/** True if a pause for throttling becomes one for failures. */
function fail(
  { failing, throttled, log }: State,
  channel: ChannelRef,
  outcome: Answer['kind'],
  { began_ms, now_ms, probe }: Required<Omit<AttemptTimes, 'to'>>,
): boolean {
  const { account_id, channel_id } = channel
  const one = failing.get(channel_id) ?? newFailing(channel, began_ms)
  failing.set(channel_id, one)
  one.failures += 1
  if (isAhead(one.since_ms, now_ms)) one.since_ms = now_ms
  one.last_ms = now_ms
  // single probes already
  const wasThrottled = probe && throttled.delete(channel_id)
  if (wasThrottled && one.failures < failuresMax) one.failures = failuresMax
  else if (one.failures !== failuresMax) return wasThrottled
  one.open_ms = now_ms
  one.probe_ms = now_ms + probeFirstMs
  log.warn(
    { account_id, channel_id, failures: one.failures, outcome },
    'the provider of a channel fails repeatedly; messages wait, and probes are sent',
  )
  return wasThrottled
}

/** The provider says so, or two recipients in a row were throttled. */
function isOfChannel(
  { suspected, throttled }: State,
  channel_id: string,
  { limit_on }: Answer,
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
  channel: ChannelRef,
  { retry_after_ms = 0, provider_code = null }: Answer,
  { now_ms, probe }: Pick<Required<AttemptTimes>, 'now_ms' | 'probe'>,
): PauseChange | null {
  const { account_id, mode, channel_id, channel_type } = channel
  suspected.delete(channel_id)
  const requested_ms = retry_after_ms > 0 ? Math.min(Math.max(retry_after_ms, requestedMinMs), requestedMaxMs) : 0
  const known = throttled.get(channel_id)
  // attempts in progress when the pause began count once
  const times = known === undefined ? 1 : probe ? known.times + 1 : known.times
  const own_ms = known !== undefined && !probe ? 0 : times === 1 && requested_ms > 0 ? 0 : backoff(times)
  const until_ms = now_ms + Math.max(requested_ms, own_ms)
  if (known !== undefined && !probe && until_ms <= known.probe_ms) return null
  const one = known ?? { account_id, mode, channel_id, channel_type, open_ms: now_ms, probe_ms: 0, probes: 0, times: 0 }
  throttled.set(channel_id, one)
  one.times = times
  one.probe_ms = until_ms
  if (known === undefined)
    log.warn(
      { account_id, channel_id, provider_code, wait_ms: until_ms - now_ms },
      'the provider throttles a channel; its messages wait',
    )
  // a probe shows nothing about the pace before the pause
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
    'the provider no longer throttles a channel; sending continues, slower at first',
  )
  wake('dispatch')
}

function adopt({ throttled, adopted_ms }: State, { until_ms, times, ...channel }: Pause, now_ms: number): boolean {
  const { channel_id } = channel
  if (throttled.has(channel_id) || now_ms - until_ms >= idleMs || until_ms <= (adopted_ms.get(channel_id) ?? 0))
    return false
  if (adopted_ms.size >= suspectedMax) adopted_ms.clear()
  adopted_ms.set(channel_id, until_ms)
  throttled.set(channel_id, {
    ...channel,
    open_ms: now_ms,
    probe_ms: Math.min(until_ms, now_ms + requestedMaxMs),
    probes: 0,
    times,
  })
  return true
}
