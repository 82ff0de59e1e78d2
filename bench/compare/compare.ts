/** Compares this checkout with another commit: one load generator, on each side a service process and a database, started anew several times, and rounds in turn. */
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
  /** How many consoles are open on the side of this checkout. */
  readonly consoles: number
  /** Shorter rounds, for a look in between. */
  readonly quick: boolean
  readonly say: (line: string) => void
}

/** One quantity of both sides. */
export interface Compared {
  readonly name: string
  readonly unit: string
  /** The median of the rounds of each side. */
  readonly before: number
  readonly after: number
  /** Of the paired ratios, after over before. */
  readonly ratio: Interval
}

export interface Comparison {
  readonly name: PathName
  readonly title: string
  /** The most that a round had. */
  readonly messages: number
  readonly quantities: readonly Compared[]
  /** What the CPU for a message was before over what it is now: Node's and PostgreSQL's, each over that of the load generator in the same round. */
  readonly performance: Interval
  readonly verdict: Verdict
  readonly rounds: readonly Pair<PathRound>[]
}

/** What performance must be at least, beside the commit before. */
export const gates: Readonly<Record<Followed, number>> = { none: 0.97, other: 0.97, messages: 0.93 }

const roundSeconds = { full: 2.5, quick: 1 }
const warmUpSeconds = { full: 4, quick: 1.5 }
/** A moment in which the machine is busy must not make a round endless: it ends after this many times its length, with fewer messages. */
const overtime = 2
/**
 * What the compiler makes of a process differs from start to start by more than what is looked for, and the pairs of one start share it: each start has as few as
 * let either side be first once, for the load generator works the faster the longer it runs.
 */
const pairsOfStart = 2
/** Fewer than may wait in the queue of a channel: where no worker takes them, all messages of all rounds do. */
const waitingMax = 400_000

/** Compares on one path. Rejects when a side refuses requests or loses a message. */
export async function compare(name: PathName, before: Checkout, options: CompareOptions): Promise<Comparison> {
  const { pairs, say } = options
  using driver = startDriver()
  const rounds: Pair<PathRound>[] = []
  let most = 0
  for (let starts = 0; rounds.length < pairs; starts++) {
    say(`${name}: starting both sides`)
    const told = (pair: Pair<PathRound>, n: number) =>
      say(
        `${name}: pair ${rounds.length + n + 1} of ${pairs}, CPU ${amount(ratios([pair], steadyCpu)[0]!)} ×, rate ${amount(ratios([pair], (round) => round.rate)[0]!)} ×`,
      )
    const turn = { first: firstAt(starts, 'before'), pairs: Math.min(pairsOfStart, pairs - rounds.length) }
    const start = await startRounds(name, driver, before, { ...options, ...turn }, told)
    most = Math.max(most, start.messages)
    rounds.push(...start.rounds)
  }
  return comparisonOf(name, most, rounds, gates[options.followed])
}

interface StartOptions extends CompareOptions {
  /**
   * The side that is started, warmed up and measured first; each is, start by start. In one order alone a commit compared with itself came out three per cent
   * dearer than itself on the way to delivery.
   */
  readonly first: Side
}

/** Rounds of processes that were started for them. */
async function startRounds(
  name: PathName,
  driver: Driver,
  before: Checkout,
  options: StartOptions,
  told: (pair: Pair<PathRound>, n: number) => void,
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
  const rounds = await alternating(options.pairs, options.first, sides, told)
  await verifyCounts(current.service, options.followed)
  consoles.verify()
  return { messages, rounds }
}

/** Lets the compilers of both sides come to rest. Resolves to how many messages the slower side manages in the time of a round. */
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

/** Node's and PostgreSQL's. */
const cpu = (round: PathRound): number => round.node_us + round.postgres_us
/** The load generator is the same program with the same work on both sides: what it takes more in one round than in another, the machine took from all. */
const steadyCpu = (round: PathRound): number => cpu(round) / round.load_us

/** What rounds tell. */
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
