/**
 * How long tests of random input, kills and load run: a short form in `npm test`, the full one in `npm run prove`. `POSTHORN_TEST_SEEDS=7,8` runs
 * simulations and crashes with these seeds instead.
 */
export const isFull = process.env['POSTHORN_TEST_FULL'] === 'true'
const chosen = process.env['POSTHORN_TEST_SEEDS']?.split(',')

/** `short` in `npm test`, `full` in `npm run prove`. */
export const effort = (short: number, full: number): number => (isFull ? full : short)

/** The seeds to run: `count` of them in `npm test`, all in `npm run prove`. */
export const seedsOf = (count: number, ...all: readonly string[]): readonly string[] =>
  chosen ?? (isFull ? all : all.slice(0, count))
