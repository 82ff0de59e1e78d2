/**
 * Checks a template message against the copy of its template. Refuses only what the provider certainly would
 * (behaviour: channels 6.6). Pure.
 */
import { Problem } from '../../../api/problem.ts'
import type { TemplateRecord } from '../../../providers/provider.ts'
import { isObject, type Fields } from '../../../lib/json.ts'

export interface TemplateContent {
  readonly name: string
  readonly language: { readonly code: string }
  readonly components?: readonly WrittenComponent[] | null
}

type Known = Pick<TemplateRecord, 'language' | 'status' | 'category' | 'parameter_format' | 'components'>

const matching = <T extends Known>(rows: readonly T[], { language }: TemplateContent): T | undefined => {
  const fitting = rows.filter((row) => row.language === language.code)
  return fitting.find(({ status }) => status === 'APPROVED') ?? fitting[0]
}

export const isMarketing = (rows: readonly (Known & { readonly name: string })[], written: TemplateContent): boolean =>
  matching(
    rows.filter(({ name }) => name === written.name),
    written,
  )?.category === 'MARKETING'

export const statusOf = (
  rows: readonly (Known & { readonly name: string })[],
  written: TemplateContent,
): string | null =>
  matching(
    rows.filter(({ name }) => name === written.name),
    written,
  )?.status ?? null

const languagesShown = 20

export function refusalOf(channel_id: string, rows: readonly Known[], written: TemplateContent): Problem | null {
  const name = JSON.stringify(written.name)
  const found = matching(rows, written)
  const seeList = `GET /v1/channels/${channel_id}/templates lists the templates.`
  if (rows.length === 0)
    return refused(
      'template.name',
      `The channel has no template ${name}. Create it at the provider and wait until it is APPROVED. ${seeList}`,
    )
  if (found === undefined) {
    const languages = rows.slice(0, languagesShown).map(({ language }) => language)
    return refused(
      'template.language.code',
      `The template ${name} does not exist in ${JSON.stringify(written.language.code)}, but in ${languages.join(', ')}.`,
    )
  }
  if (found.status !== 'APPROVED')
    return refused(
      'template.name',
      `The template ${name} (${found.language}) is ${found.status}. Send one that is APPROVED. ${seeList}`,
    )
  const misfit = misfitOf(found, written.components ?? [])
  return misfit === null ? null : refused('template.components', `The template ${name} (${found.language}) ${misfit}`)
}

const refused = (param: string, message: string): Problem => new Problem('upstream_rejected', message, { param })

export interface WrittenComponent {
  readonly type: string
  readonly parameters?: readonly unknown[] | null
  readonly sub_type?: unknown
  readonly index?: unknown
}

type Template = Pick<TemplateRecord, 'parameter_format' | 'components'>
type Written = readonly WrittenComponent[]

/** The end of a sentence that begins with the template; null if everything fits. */
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
  filled: readonly Fields[],
): string | null {
  const blanks = blanksIn(text)
  if (blanks.length !== filled.length)
    return `has ${blanks.length} ${blanks.length === 1 ? 'blank' : 'blanks'} in its ${part}, and the message fills ${filled.length}. Give as many \`parameters\` in the component of type \`${part}\`.`
  const names = filled.map((one) => one['parameter_name'])
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
const shownByHeaders: ReadonlyMap<string, (what: Fields) => boolean> = new Map([
  ['image', hasFile],
  ['video', hasFile],
  ['document', hasFile],
  ['location', hasPlace],
])

function headerMisfit(template: Template, written: Written): string | null {
  const header = partOf(template, 'HEADER')
  const filled = parametersOf(written, 'HEADER')
  if (header === undefined) {
    const isKnown = typeof bodyTextOf(template) === 'string'
    return isKnown && filled.length > 0 ? 'has no header. Leave out the component of type `header`.' : null
  }
  const type = upper(header['format'] ?? 'TEXT').toLowerCase()
  if (type === 'text')
    return typeof header['text'] === 'string' ? textMisfit(template, 'header', header['text'], filled) : null
  const isShown = shownByHeaders.get(type)
  if (isShown === undefined) return null
  const fits =
    filled.length > 0 &&
    filled.every((one) => upper(one['type']) === upper(type) && isShown(isObject(one[type]) ? one[type] : one))
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
    const filled = parametersOf(
      written.filter((one) => isOfButton(one, type, index)),
      'BUTTON',
    )
    const component = `in a component of type \`button\` with \`sub_type\` \`${type.toLowerCase()}\` and \`index\` ${index}`
    if (type === 'URL' && blanksIn(button['url']).length > 0 && filled.length === 0)
      return `has a blank in the address of its button ${index}, counted from 0. Give a parameter ${component}.`
    if (type === 'COPY_CODE' && filled.every((one) => one['type'] === 'coupon_code' && isEmpty(one['coupon_code'])))
      return `has a code to copy in its button ${index}, counted from 0. Give it as \`coupon_code\` in a parameter of type \`coupon_code\`, ${component}.`
  }
  return null
}

/** `index` may be a number or a string. */
const isOfButton = ({ sub_type, index }: WrittenComponent, type: string, at: number): boolean =>
  (isEmpty(index) || Number(index) === at) && (isEmpty(sub_type) || upper(sub_type) === type)
