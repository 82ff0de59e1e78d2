/** What a recipient of an ad-hoc audience is called. */
import type { AdhocRecipient } from '../../api/resources/campaign.ts'

type Names = Pick<AdhocRecipient, 'first_name' | 'last_name'>

/** The names given for a recipient as a contact has them: trimmed, and null where nothing else is left. */
export const givenNames = ({ first_name, last_name }: Names) => ({
  first_name: trimmed(first_name),
  last_name: trimmed(last_name),
})

function trimmed(name: string | null | undefined): string | null {
  const text = name?.trim() ?? ''
  return text === '' ? null : text
}
