/** `campaigns/{id}`: a draft as its form, anything else as how far it is. */
import { useParams } from '@tanstack/react-router'
import { v1 } from '../../api/client.ts'
import { useRead } from '../../api/use-read.ts'
import { useTemplates } from '../../parts/content-fields.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Waiting } from '../../parts/states.tsx'
import { useZone } from '../../parts/times.ts'
import { usePlace } from '../../parts/use-place.ts'
import type { Place } from '../../paths.ts'
import { text } from '../../text/en.ts'
import { CampaignForm } from './campaign-form.tsx'
import { CampaignProgress } from './campaign-progress.tsx'
import { draftOf, type Campaign } from './campaign.ts'

export function CampaignScreen() {
  const place = usePlace()
  const { id } = useParams({ strict: false }) as { id: string }
  const query = useRead(place, ['campaigns.retrieve', id], () =>
    v1(place).GET('/v1/campaigns/{id}', { params: { path: { id } } }),
  )
  return (
    <Loaded title={text.screens.campaigns} query={query}>
      {(campaign) =>
        campaign.status === 'draft' ? (
          <StoredDraft key={id} place={place} campaign={campaign} />
        ) : (
          <CampaignProgress place={place} campaign={campaign} />
        )
      }
    </Loaded>
  )
}

/** The form is filled once, when the templates are known that its message may name. */
function StoredDraft({ place, campaign }: { place: Place; campaign: Campaign }) {
  const zone = useZone()
  const { templates, isPending } = useTemplates(place, campaign.channel_id, campaign.message.type)
  if (isPending) return <Waiting />
  return <CampaignForm place={place} title={campaign.name} first={draftOf(campaign, templates, zone)} />
}
