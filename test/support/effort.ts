/** Short runs in `npm test`, full ones in `npm run prove`; `POSTHORN_TEST_SEEDS=7,8` selects seeds. */
export const isFull = process.env['POSTHORN_TEST_FULL'] === 'true'
const chosen = process.env['POSTHORN_TEST_SEEDS']?.split(',')

export const effort = (short: number, full: number): number => (isFull ? full : short)

/** `count` of them in `npm test`, all in `npm run prove`. */
export const seedsOf = (count: number, ...all: readonly string[]): readonly string[] =>
  chosen ?? (isFull ? all : all.slice(0, count))
