/** To whom a message came: one account at an operator may have several numbers, and any of its sessions may get what is written to each. */
import type { InboundMessage } from '../provider.ts'

const internationalType = 1
/** A short code has no more digits (behaviour: channels 2.3). */
const shortCodeDigits = 8
/** So many digits at its end are the same however a number is written: with its country, or with one of the many prefixes within that. */
const lastDigits = 7

/**
 * What a destination says where it is not the identifier itself; undefined where it is, and where it says nothing, as an empty one. It may be the same
 * sender written in another way, and is another one for sure only where both are numbers of a kind whose last digits differ.
 */
export function otherAddressee(destination: string, type_of_number: number, identifier: string): InboundMessage['to'] {
  const [digits, own] = [destination.replace(/^(\+|00)/, ''), identifier.replace(/^\+/, '')]
  if (!/^\d+$/.test(digits) || digits === own) return undefined
  const isInternational = type_of_number === internationalType || digits !== destination
  return {
    identifiers: [`+${digits}`, digits],
    otherwise: isOther(digits, own, identifier.startsWith('+'), isInternational) ? 'ignored' : 'ours',
  }
}

function isOther(digits: string, own: string, isNumber: boolean, isInternational: boolean): boolean {
  if (!/^\d+$/.test(own) || own.endsWith(digits.replace(/^0+/, '')) || digits.endsWith(own)) return false
  if (!isNumber) return digits.length <= shortCodeDigits
  if (digits.length < lastDigits) return false
  return digits.slice(-lastDigits) !== own.slice(-lastDigits) || (isInternational && digits.length === own.length)
}
