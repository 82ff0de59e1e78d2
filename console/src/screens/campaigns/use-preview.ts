/** What would come of a draft, stored or not, once nobody types any more. */
import { useQuery } from '@tanstack/react-query'
import { answered, own } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { useRested } from '../../parts/use-rested.ts'
import type { Place } from '../../paths.ts'
import type { CampaignCreation } from './campaign.ts'

type Preview = components['schemas']['MessagePreview']

/** Undefined while it is asked for, and of a draft that lacks something. */
export function usePreview(
  place: Place,
  { channel, message, audience, merge_fallbacks }: CampaignCreation,
  isReady: boolean,
): Preview | undefined {
  const asked = JSON.stringify({ channel, message, audience, merge_fallbacks })
  const rested = useRested(asked)
  const { data } = useQuery({
    queryKey: [place.account, place.mode, 'preview.message', rested],
    queryFn: () => answered(own(place).POST('/console/api/preview', { body: JSON.parse(rested) })),
    enabled: isReady && channel !== '',
    refetchInterval: false,
    retry: false,
    gcTime: 0,
  })
  return rested === asked ? data : undefined
}
