/** How many recipients a draft has, as far as that is known before it is launched. */
import { Text } from '@mantine/core'
import { v1 } from '../../api/client.ts'
import { useRead } from '../../api/use-read.ts'
import { numberOf } from '../../parts/amounts.ts'
import { Region } from '../../parts/facts.tsx'
import type { Place } from '../../paths.ts'
import { text } from '../../text/en.ts'
import type { CampaignDraft } from './campaign.ts'
import { recipientCount } from './recipients-text.ts'

const words = text.campaigns.form

export function Estimate({ place, draft }: { place: Place; draft: CampaignDraft }) {
  const count = useCount(place, draft)
  return (
    <Region title={words.estimate}>
      <Text aria-live="polite">{count === undefined ? words.uncounted : words.counted(count, numberOf(count))}</Text>
    </Region>
  )
}

function useCount(place: Place, { audience, list, segment, recipients }: CampaignDraft): number | undefined {
  const isList = audience === 'list' && list !== ''
  const isSegment = audience === 'segment' && segment !== ''
  const ofList = useRead(place, ['contact_lists.retrieve', list], () => v1(place).GET('/v1/contact_lists/{id}', { params: { path: { id: list } } }), isList)
  const ofSegment = useRead(
    place,
    ['segments.preview', segment],
    () => v1(place).GET('/v1/segments/{id}/preview', { params: { path: { id: segment } } }),
    isSegment,
  )
  if (audience === 'adhoc') return recipientCount(recipients)
  if (isList) return ofList.data?.contacts_count
  return isSegment ? ofSegment.data?.count : undefined
}
