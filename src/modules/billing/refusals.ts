/** What the operator is told when money cannot be moved as asked. */
import { invalid } from '../../api/problem.ts'
import { defaultPrices } from '../../api/resources/price.ts'

/** Refuses kinds of channel that have no price. */
export function requireChannelTypes(param: string, channel_types: readonly string[]): void {
  const unknown = channel_types.find((type) => !Object.hasOwn(defaultPrices, type))
  if (unknown !== undefined)
    throw invalid(
      param,
      'invalid_value',
      `No channel type is called ${JSON.stringify(unknown)}. There are ${Object.keys(defaultPrices).join(', ')}.`,
    )
}

/** Refuses what is no whole number of at least `min`; `what` names it for people. */
export function requireWhole(param: string, what: string, value: number, min: number): void {
  if (!Number.isSafeInteger(value) || value < min)
    throw invalid(param, 'invalid_value', `${what} must be a whole number, ${min} or more.`)
}

/** Refuses texts that the database cannot hold or that nobody reads to the end. */
export function requireText(param: string, text: string, length_max: number): void {
  if ([...text].length > length_max || !text.isWellFormed() || text.includes('\0'))
    throw invalid(param, 'too_long', `The ${param} has at most ${length_max} characters.`)
}
