/** Checks of an operator's input. */
import { invalid } from '../../api/problem.ts'
import { defaultPrices } from '../../api/resources/price.ts'

export function requireChannelTypes(param: string, channel_types: readonly string[]): void {
  const unknown = channel_types.find((type) => !Object.hasOwn(defaultPrices, type))
  if (unknown !== undefined)
    throw invalid(
      param,
      'invalid_value',
      `Unknown channel type ${JSON.stringify(unknown)}. Use one of ${Object.keys(defaultPrices).join(', ')}.`,
    )
}

export function requireWhole(param: string, label: string, value: number, min: number): void {
  if (!Number.isSafeInteger(value) || value < min)
    throw invalid(param, 'invalid_value', `${label} must be a whole number, ${min} or more.`)
}

export function requireText(param: string, text: string, length_max: number): void {
  if ([...text].length > length_max || !text.isWellFormed() || text.includes('\0'))
    throw invalid(param, 'too_long', `The ${param} has at most ${length_max} characters.`)
}
