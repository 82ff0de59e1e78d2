/** The options of `npm run bench`. */
import { parseArgs } from 'node:util'
import { followedKinds, type Followed } from './compare/followed.ts'
import { paths, type PathName } from './rounds.ts'

const pathNames = Object.keys(paths) as PathName[]
/** Even: either side starts equally often. */
const pairsDefault = 12
const pairsQuick = 3
const pairsMax = 100
const consolesMax = 1_000

export interface Options {
  readonly only: readonly string[] | undefined
  readonly quick: boolean
  readonly json: boolean
  readonly write: boolean
  readonly against: string | undefined
  readonly paths: readonly PathName[]
  readonly pairs: number
  readonly followed: Followed
  readonly consoles: number
  readonly gate: boolean
}

const usageOf = (names: readonly string[]): string => `npm run bench -- [--only NAME,NAME…] [--quick] [--json] [--write]
  --only     some of: ${names.join(', ')}
  --quick    fewer rounds
  --json     one JSON object instead of tables
  --write    keeps a full run in docs/reference/performance.md

npm run bench -- --against COMMIT [--only ${pathNames.join(',')}] [--pairs N] [--followed KIND] [--consoles N] [--gate] [--quick] [--json]
  --against  compares this checkout, as it stands, with a commit: each side its own service and database, rounds in turn
  --pairs    pairs of rounds for each path, ${pairsDefault} if left out; the interval of the median becomes narrower with their root
  --followed ${followedKinds.join(', ')}: whether somebody follows, on the side of this checkout, what becomes of messages:
             nobody, a projection of other messages, or one of those that are measured
  --consoles how many consoles listen, on the side of this checkout, to what happens: 0 if left out
  --gate     exit code 1 where the performance is below what is wanted
`

/** Prints the usage and exits on `--help` or invalid options. */
export function readOptions(args: readonly string[], names: readonly string[]): Options {
  const usage = usageOf(names)
  const refuse = (sentence: string): never => {
    process.stderr.write(`${sentence}\n${usage}`)
    process.exit(2)
  }
  const { values, error } = parse(args)
  if (values === undefined) return refuse(error)
  if (values.help) {
    process.stdout.write(usage)
    process.exit(0)
  }
  const { against, quick, json, write, gate } = values
  const only = values.only?.split(',').map((name) => name.trim())
  const known: readonly string[] = against === undefined ? names : pathNames
  const unknown = only?.find((name) => !known.includes(name))
  if (unknown !== undefined)
    refuse(`There is no measurement ${unknown}${against === undefined ? '' : ' that compares'}.`)
  if (write && (only !== undefined || against !== undefined))
    refuse('Only a full run is kept: leave out --only and --against, or --write.')
  if (
    against === undefined &&
    (gate || values.pairs !== undefined || values.followed !== undefined || values.consoles !== undefined)
  )
    refuse('--pairs, --followed, --consoles and --gate belong to a comparison: say --against which commit.')
  const counted = (name: 'pairs' | 'consoles', least: number, most: number, otherwise: number): number => {
    const count = Number(values[name] ?? otherwise)
    return Number.isInteger(count) && count >= least && count <= most
      ? count
      : refuse(`--${name} is a number from ${least} to ${most}.`)
  }
  const pairs = counted('pairs', 1, pairsMax, quick ? pairsQuick : pairsDefault)
  const consoles = counted('consoles', 0, consolesMax, 0)
  const followed = followedKinds.find((kind) => kind === (values.followed ?? 'none'))
  if (followed === undefined) return refuse(`--followed is one of ${followedKinds.join(', ')}.`)
  return {
    only,
    quick,
    json,
    write,
    against,
    paths: pathNames.filter((name) => only?.includes(name) ?? true),
    pairs,
    followed,
    consoles,
    gate,
  }
}

function parse(args: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const
  const text = { type: 'string' } as const
  try {
    const options = {
      only: text,
      against: text,
      pairs: text,
      followed: text,
      consoles: text,
      gate: flag,
      quick: flag,
      json: flag,
      write: flag,
      help: flag,
    } as const
    return { values: parseArgs({ args: [...args], options }).values, error: '' }
  } catch (error) {
    return { values: undefined, error: (error as Error).message }
  }
}
