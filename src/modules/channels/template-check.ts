/** Whether a template message fits the template that it names, as far as our copy can tell for certain. Pure. */
import { Problem } from '../../api/problem.ts'
import type { TemplateRecord } from '../../providers/provider.ts'
import { misfitOf, type WrittenComponent } from './template-fit.ts'

/** Content `template`, checked already. */
export interface TemplateContent {
  readonly name: string
  readonly language: { readonly code: string }
  readonly components?: readonly WrittenComponent[] | null
}

type Known = Pick<TemplateRecord, 'language' | 'status' | 'category' | 'parameter_format' | 'components'>

/** Of a name, the one that is meant. */
const meant = <T extends Known>(rows: readonly T[], { language }: TemplateContent): T | undefined => {
  const fitting = rows.filter((row) => row.language === language.code)
  return fitting.find(({ status }) => status === 'APPROVED') ?? fitting[0]
}

export const isMarketing = (rows: readonly (Known & { readonly name: string })[], written: TemplateContent): boolean =>
  meant(
    rows.filter(({ name }) => name === written.name),
    written,
  )?.category === 'MARKETING'

/** The status of the template that is meant; null where there is none. */
export const statusOf = (
  rows: readonly (Known & { readonly name: string })[],
  written: TemplateContent,
): string | null =>
  meant(
    rows.filter(({ name }) => name === written.name),
    written,
  )?.status ?? null

const languagesShown = 20

/** Why this message is refused; null where nothing speaks against it. `rows` are the channel's templates of that name. */
export function refusalOf(channel_id: string, rows: readonly Known[], written: TemplateContent): Problem | null {
  const name = JSON.stringify(written.name)
  const found = meant(rows, written)
  const seeList = `GET /v1/channels/${channel_id}/templates lists those that there are.`
  if (rows.length === 0)
    return refused(
      'template.name',
      `The channel has no template ${name}. Create it with the provider and wait until it is APPROVED. ${seeList}`,
    )
  if (found === undefined) {
    const languages = rows.slice(0, languagesShown).map(({ language }) => language)
    return refused(
      'template.language.code',
      `The template ${name} is not there in ${JSON.stringify(written.language.code)}, but in ${languages.join(', ')}.`,
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
