/** `campaigns/new`. */
import { usePlace } from '../../parts/use-place.ts'
import { text } from '../../text/en.ts'
import { emptyCampaign } from './campaign.ts'
import { CampaignForm } from './campaign-form.tsx'

export function NewCampaignScreen() {
  const place = usePlace()
  return <CampaignForm place={place} title={text.campaigns.create} first={emptyCampaign} />
}
