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
  --write    writes a full run to docs/reference/performance.md

npm run bench -- --against COMMIT [--only ${pathNames.join(',')}] [--pairs N] [--followed KIND] [--consoles N] [--gate] [--quick] [--json]
  --against  compares this checkout, including uncommitted changes, with a commit: each side has its own service and database, and rounds alternate
  --pairs    pairs of rounds for each path, ${pairsDefault} by default; more pairs narrow the interval of the median
  --followed ${followedKinds.join(', ')}: an additional projection on the side of this checkout:
             none, of other messages, or of the measured messages
  --consoles number of consoles with an open event stream on the side of this checkout, 0 by default
  --gate     exits with code 1 if the performance is below the gate
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
  if (unknown !== undefined) refuse(`${unknown} is no ${against === undefined ? 'measurement' : 'path to compare'}.`)
  if (write && (only !== undefined || against !== undefined))
    refuse('--write needs a full run: omit --only and --against.')
  if (
    against === undefined &&
    (gate || values.pairs !== undefined || values.followed !== undefined || values.consoles !== undefined)
  )
    refuse('--pairs, --followed, --consoles and --gate need --against with a commit.')
  const counted = (name: 'pairs' | 'consoles', least: number, most: number, otherwise: number): number => {
    const count = Number(values[name] ?? otherwise)
    return Number.isInteger(count) && count >= least && count <= most
      ? count
      : refuse(`--${name} must be a number from ${least} to ${most}.`)
  }
  const pairs = counted('pairs', 1, pairsMax, quick ? pairsQuick : pairsDefault)
  const consoles = counted('consoles', 0, consolesMax, 0)
  const followed = followedKinds.find((kind) => kind === (values.followed ?? 'none'))
  if (followed === undefined) return refuse(`--followed must be one of ${followedKinds.join(', ')}.`)
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
