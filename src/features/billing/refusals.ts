/** What the operator is told when money cannot be moved as asked. */
import { Refusal } from '../../contract/refusal.ts'
import { defaultPrices } from '../../contract/resources/price.ts'

export const noAccount = (id: string): Refusal => new Refusal(`There is no account ${id}. \`posthorn accounts list\` shows them all.`)

/** Refuses kinds of channel that have no price. */
export function requireChannelTypes(channel_types: readonly string[]): void {
  const unknown = channel_types.find((type) => !Object.hasOwn(defaultPrices, type))
  if (unknown !== undefined) throw new Refusal(`No channel type is called ${JSON.stringify(unknown)}. There are ${Object.keys(defaultPrices).join(', ')}.`)
}

/** Refuses what is no whole number of at least `min`. */
export function requireWhole(what: string, value: number, min: number): void {
  if (!Number.isSafeInteger(value) || value < min) throw new Refusal(`${what} must be a whole number, ${min} or more.`)
}

/** Refuses texts that the database cannot hold or that nobody reads to the end. */
export function requireText(what: string, text: string, length_max: number): void {
  if ([...text].length > length_max || !text.isWellFormed() || text.includes('\0')) throw new Refusal(`${what} has at most ${length_max} characters.`)
}
