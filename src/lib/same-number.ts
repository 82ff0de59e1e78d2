/** Compares numbers that are written in different ways: with a plus, with the prefix of a country, or with one of the many prefixes within it. */

/** So many digits at its end are the same however a number is written. */
const lastDigits = 7

const endOf = (address: string): string | null => (/^\+?\d{7,}$/.test(address) ? address.slice(-lastDigits) : null)

/** Whether both are numbers that may be the same one. */
const areSameNumber = (one: string, other: string): boolean => endOf(one) !== null && endOf(one) === endOf(other)

/** Whether both are numbers, and surely not the same one. */
const areOtherNumbers = (one: string, other: string): boolean =>
  endOf(one) !== null && endOf(other) !== null && endOf(one) !== endOf(other)

/** The sender and the recipient that a receipt names. */
interface NamedAddresses {
  readonly from: string
  readonly to: string
}

/** Whether a receipt tells of another recipient than this. A provider may write sender and recipient the wrong way round. */
export const areOfAnother = ({ from, to }: NamedAddresses, recipient: string): boolean =>
  areOtherNumbers(from, recipient) && !areSameNumber(to, recipient)
