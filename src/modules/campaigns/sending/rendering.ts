/** Renders a recipient's message. */
import { Problem } from '../../../api/problem.ts'
import type { CampaignMessage } from '../../../api/resources/campaign.ts'
import { type CampaignRow, trimmedNames } from '../campaign.ts'
import type { UnsentRow } from '../recipient-repository.ts'
import { type ContactRow, fullName } from '../../contacts/service.ts'
import { mergeValues, type MergeValues, render } from '../../messages/service.ts'

export function valuesOf(
  recipient: Pick<UnsentRow, 'to' | 'first_name' | 'last_name' | 'variables'>,
  contact: ContactRow | undefined,
): MergeValues {
  const { variables } = recipient
  const [own, recipientNames] = [
    trimmedNames({ first_name: textOf(variables?.['first_name']), last_name: textOf(variables?.['last_name']) }),
    trimmedNames(recipient),
  ]
  const names = {
    first_name: own.first_name ?? recipientNames.first_name ?? contact?.first_name ?? null,
    last_name: own.last_name ?? recipientNames.last_name ?? contact?.last_name ?? null,
  }
  return mergeValues({
    variables,
    fields: {
      ...names,
      full_name: fullName(names),
      phone: contact?.phone ?? (recipient.to.startsWith('+') ? recipient.to : null),
      email: contact?.email ?? null,
      locale: contact?.locale ?? null,
    },
    attributes: contact?.attributes ?? {},
  })
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Throws `parameter_invalid` if a text is empty after rendering. */
export function renderedFor(
  { message, merge_fallbacks }: Pick<CampaignRow, 'message' | 'merge_fallbacks'>,
  values: MergeValues,
): CampaignMessage {
  const result = render(message, values, merge_fallbacks)
  if ('failures' in result) throw Problem.invalid(result.failures)
  return result.rendered as CampaignMessage
}
