/** Money and numbers as people read them, by Intl. */

const dollars = new Intl.NumberFormat('en', {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
})
const whole = new Intl.NumberFormat('en')

/** Micro-USD as dollars. */
export const dollarsOf = (micros: number): string => dollars.format(micros / 1_000_000)
export const numberOf = (value: number): string => whole.format(value)

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })
/** Of one: 0.5 is half. */
export const percentOf = (share: number): string => percent.format(share)

/** Dollars as typed in micro-USD; undefined for what is no amount of whole cents. */
export function microsOf(typed: string): number | undefined {
  const [, whole, cents = ''] = /^\$?\s*(\d{1,7})(?:[.,](\d{1,2}))?$/.exec(typed.trim()) ?? []
  return whole === undefined ? undefined : (Number(whole) * 100 + Number(cents.padEnd(2, '0'))) * 10_000
}
