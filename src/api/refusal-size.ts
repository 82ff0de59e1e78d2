/** Truncates the texts of an error and lists as many failures as fit (behaviour: conventions 6.1, 7.6). */
import type { Detail } from './errors.ts'
import { limits } from './limits.ts'

/** The parts of an error that depend on the request. */
export interface ErrorTexts {
  readonly message: string
  readonly param: string | undefined
  readonly details: readonly Detail[] | undefined
}

/** Of an error's other fields. */
const restBytes = 1024
const sentenceBytes = 100

/** Truncates to `length_max` UTF-16 units with an ellipsis, never within a character. */
export function cut(text: string, length_max: number): string {
  if (text.length <= length_max) return text
  const end = length_max - 1
  const splits = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800
  return `${text.slice(0, splits ? end - 1 : end)}…`
}

export const cutPath = (path: string): string => cut(path, limits.error_param_length_max)

/** Failures that do not fit are counted in the message. */
export function fitted({ message, param, details }: ErrorTexts, bytes_max: number): ErrorTexts {
  // a unit has at most six bytes, as `\u0001`
  const length_max = Math.min(limits.error_text_length_max, Math.floor(bytes_max / 16))
  const short = { message: cut(message, length_max), param: param === undefined ? undefined : cutPath(param) }
  if (details === undefined) return { ...short, details }
  const listed: Detail[] = []
  let room = bytes_max - restBytes - sentenceBytes - jsonBytes(short)
  for (const detail of details) {
    if (listed.length === limits.error_details_max) break
    const next = { param: cutPath(detail.param), code: detail.code, message: cut(detail.message, length_max) }
    room -= jsonBytes(next) + 1
    if (room < 0) break
    listed.push(next)
  }
  return { ...short, message: short.message + unnamed(details.length, listed.length), details: listed }
}

export const surelyFits = ({ message, param = '', details = [] }: ErrorTexts, bytes_max: number): boolean =>
  details.length <= limits.error_details_max &&
  message.length <= limits.error_text_length_max &&
  [{ message, param }, ...details].every(
    (said) => said.param.length <= limits.error_param_length_max && said.message.length <= limits.error_text_length_max,
  ) &&
  details.reduce(
    (sum, detail) => sum + detail.message.length + detail.param.length + 16,
    message.length + param.length,
  ) *
    6 +
    restBytes <=
    bytes_max

function unnamed(all: number, named: number): string {
  const more = all - named
  if (more === 0) return ''
  const atLeast = all >= limits.error_details_collected_max ? 'at least ' : ''
  return ` There ${more === 1 ? 'is' : 'are'} ${atLeast}${more} more failure${more === 1 ? '' : 's'} than \`details\` names.`
}

const jsonBytes = (value: object): number => Buffer.byteLength(JSON.stringify(value))
