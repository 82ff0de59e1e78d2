/** Whether the components of a template message fit those of its template. Only what the provider is certain to refuse does not: what our copy does not tell passes (behaviour: channels 6.6). Pure. */
import { isObject, type Fields } from '../../lib/json-fields.ts'
import type { TemplateRecord } from '../../providers/provider.ts'

/** A component of content `template`, checked already. */
export interface WrittenComponent {
  readonly type: string
  readonly parameters?: readonly unknown[] | null
  readonly sub_type?: unknown
  readonly index?: unknown
}

type Template = Pick<TemplateRecord, 'parameter_format' | 'components'>
type Written = readonly WrittenComponent[]

/** What does not fit and what to do about it, as the end of a sentence that begins with the template; null where nothing speaks against it. */
export const misfitOf = (template: Template, written: Written): string | null =>
  bodyMisfit(template, written) ?? headerMisfit(template, written) ?? buttonMisfit(template, written)

const upper = (value: unknown): string => String(value).toUpperCase()
const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === ''
const blanksIn = (text: unknown): string[] =>
  typeof text === 'string' ? [...new Set([...text.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map((match) => match[1]!))] : []

const partOf = ({ components }: Template, type: string): Fields | undefined =>
  components.find((one) => upper(one['type']) === type)
const bodyTextOf = (template: Template): unknown => partOf(template, 'BODY')?.['text']

const parametersOf = (written: Written, type: string): Fields[] =>
  written
    .filter((one) => upper(one.type) === type)
    .flatMap(({ parameters }) => (parameters ?? []).map((one) => (isObject(one) ? one : {})))

function bodyMisfit(template: Template, written: Written): string | null {
  const text = bodyTextOf(template)
  return typeof text === 'string' ? textMisfit(template, 'body', text, parametersOf(written, 'BODY')) : null
}

function textMisfit(
  { parameter_format }: Template,
  part: 'body' | 'header',
  text: string,
  given: readonly Fields[],
): string | null {
  const blanks = blanksIn(text)
  if (blanks.length !== given.length)
    return `has ${blanks.length} ${blanks.length === 1 ? 'blank' : 'blanks'} in its ${part}, and the message fills ${given.length}. Give as many \`parameters\` in the component of type \`${part}\`.`
  const names = given.map((one) => one['parameter_name'])
  if (upper(parameter_format) === 'NAMED') {
    const unfilled = blanks.find((blank) => !names.includes(blank))
    return unfilled === undefined
      ? null
      : `has a blank {{${unfilled}}} in its ${part}, which no parameter fills. Name the blank of each parameter in \`parameter_name\`.`
  }
  const isNumbered = upper(parameter_format) === 'POSITIONAL' && blanks.every((blank) => /^\d+$/.test(blank))
  if (!isNumbered || names.every(isEmpty)) return null
  return `has numbered blanks in its ${part}. Leave out \`parameter_name\`, and give the parameters in the order of the numbers.`
}

const hasFile = (file: Fields): boolean => !['id', 'link', 'url'].every((key) => isEmpty(file[key]))
const hasPlace = (place: Fields): boolean => !isEmpty(place['latitude']) && !isEmpty(place['longitude'])
/** What headers that are no text show, by the type of their parameter. */
const shownByHeaders: ReadonlyMap<string, (what: Fields) => boolean> = new Map([
  ['image', hasFile],
  ['video', hasFile],
  ['document', hasFile],
  ['location', hasPlace],
])

function headerMisfit(template: Template, written: Written): string | null {
  const header = partOf(template, 'HEADER')
  const given = parametersOf(written, 'HEADER')
  if (header === undefined) {
    const isKnown = typeof bodyTextOf(template) === 'string'
    return isKnown && given.length > 0 ? 'has no header. Leave out the component of type `header`.' : null
  }
  const type = upper(header['format'] ?? 'TEXT').toLowerCase()
  if (type === 'text')
    return typeof header['text'] === 'string' ? textMisfit(template, 'header', header['text'], given) : null
  const isShown = shownByHeaders.get(type)
  if (isShown === undefined) return null
  const fits =
    given.length > 0 &&
    given.every((one) => upper(one['type']) === upper(type) && isShown(isObject(one[type]) ? one[type] : one))
  return fits
    ? null
    : `shows ${type === 'image' ? 'an' : 'a'} ${type} in its header. Give it as the parameter of type \`${type}\` in the component of type \`header\`.`
}

function buttonMisfit(template: Template, written: Written): string | null {
  const buttons = partOf(template, 'BUTTONS')?.['buttons']
  if (!Array.isArray(buttons)) return null
  for (const [index, button] of buttons.entries()) {
    if (!isObject(button)) continue
    const type = upper(button['type'])
    const given = parametersOf(
      written.filter((one) => isOfButton(one, type, index)),
      'BUTTON',
    )
    const component = `in a component of type \`button\` with \`sub_type\` \`${type.toLowerCase()}\` and \`index\` ${index}`
    if (type === 'URL' && blanksIn(button['url']).length > 0 && given.length === 0)
      return `has a blank in the address of its button ${index}, counted from 0. Give a parameter ${component}.`
    if (type === 'COPY_CODE' && given.every((one) => one['type'] === 'coupon_code' && isEmpty(one['coupon_code'])))
      return `has a code to copy in its button ${index}, counted from 0. Give it as \`coupon_code\` in a parameter of type \`coupon_code\`, ${component}.`
  }
  return null
}

/** `index` may be a number or its digits. */
const isOfButton = ({ sub_type, index }: WrittenComponent, type: string, at: number): boolean =>
  (isEmpty(index) || Number(index) === at) && (isEmpty(sub_type) || upper(sub_type) === type)
