/** Phone numbers: national and international forms, variants of one number, and countries. */
import {
  getCountries,
  getCountryCallingCode,
  isSupportedCountry,
  Metadata,
  parsePhoneNumberFromString,
  type CountryCode,
} from 'libphonenumber-js'

const e164 = /^\+[1-9]\d{6,14}$/

/** Deliberately no numbering plan: fictional numbers pass. */
export const isE164 = (text: string): boolean => e164.test(text)

/** ISO 3166 alpha-2, in upper or lower case. */
export const isCountry = (text: string): boolean => isSupportedCountry(text.toUpperCase())

/** E.164, or null. A number without `+` needs `defaultCountry`. */
export function normalisePhone(text: string, defaultCountry?: string): string | null {
  if (e164.test(text)) return text
  if (text.length > 40) return null
  const bare = text
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '') // direction marks, which are copied along with numbers
    .replace(/^\s*\(\s*\+\s*(\d+)\s*\)/, '+$1')
    .replace(/(?<=\d\W*)\(0\)/, '') // +49 (0) 151 …: the trunk zero is not dialled after a country code
    .replace(/[\s.()[\]/\u00a0\u2010-\u2015-]/g, '')
  if (e164.test(bare)) return bare
  if (defaultCountry === undefined || !/^\d{3,17}$/.test(bare)) return null
  const country = defaultCountry.toUpperCase()
  if (!isSupportedCountry(country)) return null
  const number = readNational(bare, country) ?? parsePhoneNumberFromString(bare, country)?.number
  return number !== undefined && e164.test(number) ? number : null
}

interface Plan {
  readonly code: string
  /** No other country has this calling code. */
  readonly alone: boolean
  readonly international: RegExp
  readonly trunk: RegExp | null
  readonly numbers: RegExp
  readonly lengths: readonly number[]
}

const plans = new Map<CountryCode, Plan>()

/** Ten times as fast as libphonenumber; undefined where only that can decide. */
function readNational(digits: string, country: CountryCode): string | undefined {
  let plan = plans.get(country)
  if (plan === undefined) plans.set(country, (plan = readPlan(country)))
  if (digits.startsWith(plan.code) || plan.international.test(digits)) return undefined
  const trunk = plan.trunk?.exec(digits)
  if (trunk === null || trunk === undefined) return `+${plan.code}${digits}`
  const number = digits.slice(trunk[0].length)
  const plain = trunk.every((group, at) => at === 0 || group === undefined)
  return plain && plan.alone && plan.lengths.includes(number.length) && plan.numbers.test(number)
    ? `+${plan.code}${number}`
    : undefined
}

function readPlan(country: CountryCode): Plan {
  const metadata = new Metadata()
  metadata.selectNumberingPlan(country)
  // the published types are incomplete
  const plan = metadata.numberingPlan as unknown as {
    callingCode(): string
    IDDPrefix(): string
    nationalPrefixForParsing(): string | undefined
    nationalNumberPattern(): string
    possibleLengths(): readonly number[]
  }
  const [code, trunk] = [plan.callingCode(), plan.nationalPrefixForParsing()]
  singleCountryCodes ??= readCallingCodes()
  return {
    code,
    alone: singleCountryCodes.has(code),
    international: new RegExp(`^(?:${plan.IDDPrefix()})`),
    trunk: trunk ? new RegExp(`^(?:${trunk})`) : null,
    numbers: new RegExp(`^(?:${plan.nationalNumberPattern()})$`),
    lengths: plan.possibleLengths(),
  }
}

/**
 * Ignores the ninth digit of Brazilian mobiles, the old 1 of Mexican ones, and the 9 or domestic 15 of Argentinian
 * ones. Other numbers are their own key. Idempotent.
 */
export function phoneKey(number: string): string {
  if (number.charCodeAt(1) !== 53 /* 5 */) return number
  switch (number.charCodeAt(2)) {
    case 53: // +55 Brazil: area (2) and 8 digits; of those, mobiles start with 6 to 9 and later got a leading 9
      return number.length === 13 && number.charCodeAt(5) >= 54 ? `${number.slice(0, 5)}9${number.slice(5)}` : number
    case 50: // +52 Mexico: until 2019 mobiles were dialled with a 1 before their 10 digits
      return number.length === 14 && number.charCodeAt(3) === 49 ? `+52${number.slice(4)}` : number
    case 52: // +54 Argentina: 10 digits; from abroad mobiles take a 9 before them
      return argentinianKey(number)
    default:
      return number
  }
}

function argentinianKey(number: string): string {
  if (number.length === 14 && number.charCodeAt(3) === 57) return `+54${number.slice(4)}`
  if (number.length !== 15) return number
  // area, 15, subscriber: only the numbering plan knows how long the area code is
  const parsed = parsePhoneNumberFromString(number)?.number
  return parsed !== undefined && parsed.length === 14 && parsed.charCodeAt(3) === 57 ? `+54${parsed.slice(4)}` : number
}

/** The key first. */
export function phoneVariants(key: string): string[] {
  if (/^\+55\d{2}9[6-9]\d{7}$/.test(key)) return [key, key.slice(0, 5) + key.slice(6)]
  if (/^\+52\d{10}$/.test(key)) return [key, `+521${key.slice(3)}`]
  if (/^\+54\d{10}$/.test(key)) return [key, `+549${key.slice(3)}`]
  return [key]
}

let singleCountryCodes: ReadonlyMap<string, CountryCode> | undefined
/** By area code, because parsing costs 100 times a look-up. At most 1,000 entries. */
const northAmerica = new Map<string, string | null>()

function readCallingCodes(): ReadonlyMap<string, CountryCode> {
  const countries = new Map<string, CountryCode[]>()
  for (const country of getCountries()) {
    const code = getCountryCallingCode(country)
    countries.set(code, [...(countries.get(code) ?? []), country])
  }
  const single = new Map<string, CountryCode>()
  for (const [code, [country, ...others]] of countries)
    if (country !== undefined && others.length === 0) single.set(code, country)
  return single
}

/** ISO 3166 alpha-2; null if the number does not determine it. */
export function countryOf(number: string): string | null {
  singleCountryCodes ??= readCallingCodes()
  for (let digits = 1; digits <= 3; digits++) {
    const country = singleCountryCodes.get(number.slice(1, 1 + digits))
    if (country !== undefined) return country
  }
  if (number.charCodeAt(1) !== 49 || number.length !== 12) return parsedCountry(number)
  const area = number.slice(2, 5)
  let country = northAmerica.get(area)
  if (country === undefined) northAmerica.set(area, (country = parsedCountry(number)))
  return country
}

const parsedCountry = (number: string): string | null => parsePhoneNumberFromString(number)?.country ?? null

/** The same in every notation: with a plus, a country prefix or a national prefix. */
const lastDigits = 7

const endOf = (address: string): string | null => (/^\+?\d{7,}$/.test(address) ? address.slice(-lastDigits) : null)

const areSameNumber = (one: string, other: string): boolean => endOf(one) !== null && endOf(one) === endOf(other)

const areOtherNumbers = (one: string, other: string): boolean =>
  endOf(one) !== null && endOf(other) !== null && endOf(one) !== endOf(other)

interface NamedAddresses {
  readonly from: string
  readonly to: string
}

/** Also if the provider swaps sender and recipient. */
export const isOtherRecipient = ({ from, to }: NamedAddresses, recipient: string): boolean =>
  areOtherNumbers(from, recipient) && !areSameNumber(to, recipient)
