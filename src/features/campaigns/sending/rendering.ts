/** A recipient's own message: what is known of the contact put in the place of merge tags. */
import type { CampaignMessage } from '../../../contract/resources/campaign.ts'
import type { ContactRow } from '../../contacts/service.ts'
import { mergeValues, render, type MergeValues } from '../drafts/merge-tags.ts'
import type { CampaignRow } from '../rows.ts'
import type { UnsentRow } from '../recipient-store.ts'

export function valuesOf(recipient: Pick<UnsentRow, 'to' | 'first_name' | 'last_name' | 'variables'>, contact: ContactRow | undefined): MergeValues {
  const first_name = recipient.first_name ?? contact?.first_name ?? null
  const last_name = recipient.last_name ?? contact?.last_name ?? null
  const full_name = [first_name, last_name].filter((name) => name !== null && name !== '').join(' ')
  return mergeValues({
    variables: recipient.variables,
    fields: {
      first_name,
      last_name,
      full_name,
      phone: contact?.phone ?? (recipient.to.startsWith('+') ? recipient.to : null),
      email: contact?.email ?? null,
      locale: contact?.locale ?? null,
    },
    attributes: contact?.attributes ?? {},
  })
}

export const renderedFor = (campaign: Pick<CampaignRow, 'message' | 'merge_fallbacks'>, values: MergeValues): CampaignMessage =>
  ({ ...render(campaign.message, values, campaign.merge_fallbacks), type: campaign.message.type }) as CampaignMessage
