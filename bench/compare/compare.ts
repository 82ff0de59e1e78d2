/** Compares this checkout with another commit: one load generator, two services, alternating rounds. */
import { thisCheckout, type Checkout } from '../checkout.ts'
import { openConsoles } from '../consoles.ts'
import { startDriver, type Driver } from '../drive.ts'
import { amount } from '../figures.ts'
import { pathRound, paths, startPath, type PathName, type PathRound, type PathService } from '../rounds.ts'
import { followedLoad, followedProgram, prepareCounts, verifyCounts, type Followed } from './followed.ts'
import {
  alternating,
  both,
  firstAt,
  inverse,
  judge,
  medianInterval,
  ratios,
  type Interval,
  type Pair,
  type Side,
  type Verdict,
} from './statistics.ts'

export interface CompareOptions {
  readonly pairs: number
  readonly followed: Followed
  /** Open consoles on the side of this checkout. */
  readonly consoles: number
  readonly quick: boolean
  readonly say: (line: string) => void
}

export interface Compared {
  readonly name: string
  readonly unit: string
  /** Medians. */
  readonly before: number
  readonly after: number
  /** After over before, per pair. */
  readonly ratio: Interval
}

export interface Comparison {
  readonly name: PathName
  readonly title: string
  /** Per round. */
  readonly messages: number
  readonly quantities: readonly Compared[]
  /** CPU per message of Node and PostgreSQL over the load generator's: before over after. */
  readonly performance: Interval
  readonly verdict: Verdict
  readonly rounds: readonly Pair<PathRound>[]
}

/** Least performance. */
export const gates: Readonly<Record<Followed, number>> = { none: 0.97, other: 0.97, messages: 0.93 }

const roundSeconds = { full: 2.5, quick: 1 }
const warmUpSeconds = { full: 4, quick: 1.5 }
/** A round ends after this many times its length. */
const overtime = 2
/** Few, because compiled code differs from start to start and pairs of one start share it. */
const pairsOfStart = 2
/** Below the queue limit of a channel, for paths without a worker. */
const waitingMax = 400_000

/** Rejects if a side refuses requests or loses a message. */
export async function compare(name: PathName, before: Checkout, options: CompareOptions): Promise<Comparison> {
  const { pairs, say } = options
  using driver = startDriver()
  const rounds: Pair<PathRound>[] = []
  let most = 0
  for (let starts = 0; rounds.length < pairs; starts++) {
    say(`${name}: starting both sides`)
    const reported = (pair: Pair<PathRound>, n: number) =>
      say(
        `${name}: pair ${rounds.length + n + 1} of ${pairs}, CPU ${amount(ratios([pair], steadyCpu)[0]!)} ×, rate ${amount(ratios([pair], (round) => round.rate)[0]!)} ×`,
      )
    const turn = { first: firstAt(starts, 'before'), pairs: Math.min(pairsOfStart, pairs - rounds.length) }
    const start = await startRounds(name, driver, before, { ...options, ...turn }, reported)
    most = Math.max(most, start.messages)
    rounds.push(...start.rounds)
  }
  return comparisonOf(name, most, rounds, gates[options.followed])
}

interface StartOptions extends CompareOptions {
  /** Alternates: in a fixed order, a commit compared with itself came out three per cent slower. */
  readonly first: Side
}

async function startRounds(
  name: PathName,
  driver: Driver,
  before: Checkout,
  options: StartOptions,
  reported: (pair: Pair<PathRound>, n: number) => void,
): Promise<{ messages: number; rounds: Pair<PathRound>[] }> {
  const path = paths[name]
  const load = followedLoad(options.followed)
  await using started = new AsyncDisposableStack()
  const { before: old, after: current } = await both(options.first, {
    before: async () => started.use(await startPath(path, { checkout: before, ...load })),
    after: async () =>
      started.use(await startPath(path, { checkout: thisCheckout, ...load, ...followedProgram(options.followed) })),
  })
  await prepareCounts(current.service, options.followed)
  await using consoles = await openConsoles(current.service, options.consoles)
  const messages = await warmUp(driver, { before: old, after: current }, options)
  const seconds = roundSeconds[options.quick ? 'quick' : 'full'] * overtime
  const sides = {
    before: () => pathRound(driver, old, { seconds, messages }),
    after: () => pathRound(driver, current, { seconds, messages }),
  }
  const rounds = await alternating(options.pairs, options.first, sides, reported)
  await verifyCounts(current.service, options.followed)
  consoles.verify()
  return { messages, rounds }
}

/** Warms the compilers up. Resolves to the messages of the slower side in the time of a round. */
async function warmUp(
  driver: Driver,
  sides: Pair<PathService>,
  { quick, pairs, first }: StartOptions,
): Promise<number> {
  const length = quick ? 'quick' : 'full'
  const warm = async (side: PathService) => (await pathRound(driver, side, { seconds: warmUpSeconds[length] })).rate
  const rates = await both(first, { before: () => warm(sides.before), after: () => warm(sides.after) })
  return Math.max(
    1,
    Math.floor(Math.min(Math.min(rates.before, rates.after) * roundSeconds[length], waitingMax / pairs)),
  )
}

const cpu = (round: PathRound): number => round.node_us + round.postgres_us
/** Relative to the load generator, whose work is the same on both sides. */
const steadyCpu = (round: PathRound): number => cpu(round) / round.load_us

export function comparisonOf(
  name: PathName,
  messages: number,
  rounds: readonly Pair<PathRound>[],
  least: number,
): Comparison {
  const quantity = (title: string, unit: string, of: (round: PathRound) => number): Compared => ({
    name: title,
    unit,
    before: medianInterval(rounds.map((pair) => of(pair.before))).median,
    after: medianInterval(rounds.map((pair) => of(pair.after))).median,
    ratio: medianInterval(ratios(rounds, of)),
  })
  const steady = quantity('… over that of the load generator', '×', steadyCpu)
  const performance = inverse(steady.ratio)
  return {
    name,
    title: paths[name].title,
    messages,
    quantities: [
      quantity('CPU for a message', 'µs', cpu),
      steady,
      quantity('… of Node', 'µs', (round) => round.node_us),
      quantity('… of PostgreSQL', 'µs', (round) => round.postgres_us),
      quantity('messages a second', '/s', (round) => round.rate),
      quantity('CPU of the load generator', 'µs', (round) => round.load_us),
    ],
    performance,
    verdict: judge(performance, least),
    rounds,
  }
}
