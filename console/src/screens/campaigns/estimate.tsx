/** What a draft comes to: its message as the first recipient would get it, how many recipients there are, and what they cost. */
import { Stack, Text } from '@mantine/core'
import { v1 } from '../../api/client.ts'
import { useRead } from '../../api/use-read.ts'
import { dollarsOf, numberOf } from '../../parts/amounts.ts'
import { ContentPreview } from '../../parts/content-fields.tsx'
import type { Template } from '../../parts/content.ts'
import { Region } from '../../parts/facts.tsx'
import { storedContent } from '../../parts/stored-content.ts'
import type { Place } from '../../paths.ts'
import { text } from '../../text/en.ts'
import type { CampaignCreation, CampaignDraft } from './campaign.ts'
import { recipientCount } from './recipients-text.ts'
import { usePreview } from './use-preview.ts'

const words = text.campaigns.form

export interface EstimateProps {
  readonly place: Place
  readonly draft: CampaignDraft
  /** What the draft would be stored as. */
  readonly body: CampaignCreation
  readonly templates: readonly Template[]
  readonly isReady: boolean
}

export function Estimate({ place, draft, body, templates, isReady }: EstimateProps) {
  const preview = usePreview(place, body, isReady)
  const known = useCount(place, draft)
  const count = preview?.recipients_count ?? known
  const rendered = preview === undefined ? draft : storedContent(preview.message as { type: string }, templates)
  return (
    <>
      <Region title={words.preview}>
        <Stack gap="xs">
          <ContentPreview draft={rendered} templates={templates} />
          {preview !== undefined && preview.recipients_count > 0 && <Text size="sm">{words.forFirst}</Text>}
        </Stack>
      </Region>
      <Region title={words.estimate}>
        <div aria-live="polite">
          <Text>{count === undefined ? words.uncounted : words.counted(count, numberOf(count))}</Text>
          {preview !== undefined && <Text>{costOf(preview.cost)}</Text>}
        </div>
      </Region>
    </>
  )
}

function costOf({ package_credits, wallet_micros }: { package_credits: number; wallet_micros: number }): string {
  const { credits } = text.campaigns.launch
  const parts = [
    package_credits > 0 ? credits(numberOf(package_credits)) : '',
    package_credits > 0 && wallet_micros === 0 ? '' : dollarsOf(wallet_micros),
  ]
  return words.costs(parts.filter((part) => part !== '').join(' + '))
}

function useCount(place: Place, { audience, list, segment, recipients }: CampaignDraft): number | undefined {
  const isList = audience === 'list' && list !== ''
  const isSegment = audience === 'segment' && segment !== ''
  const ofList = useRead(
    place,
    ['contact_lists.retrieve', list],
    () => v1(place).GET('/v1/contact_lists/{id}', { params: { path: { id: list } } }),
    isList,
  )
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
