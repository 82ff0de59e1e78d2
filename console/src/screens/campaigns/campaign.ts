/** A campaign as it is entered and as the API has it. */
import type { components } from '../../api/generated/v1.ts'
import { contentOf, type ContentDraft, type Template } from '../../parts/content.ts'
import { mergeTagsIn } from '../../parts/merge-tags.ts'
import { storedContent } from '../../parts/stored-content.ts'
import { instantOf, localOf } from '../../parts/times.ts'
import { recipientLines, recipientsIn } from './recipients-text.ts'

export type Campaign = components['schemas']['Campaign']
export type CampaignCreation = components['schemas']['CampaignCreation']
type Audience = components['schemas']['CampaignAudienceRequest']

export const audienceTypes = ['segment', 'list', 'tags', 'adhoc'] as const
export type AudienceType = (typeof audienceTypes)[number]

export interface CampaignDraft extends ContentDraft {
  /** Of the stored draft; empty: nothing is stored yet. */
  readonly id: string
  readonly name: string
  readonly channel: string
  readonly audience: AudienceType
  readonly segment: string
  readonly list: string
  readonly tags: string
  readonly match: 'any' | 'all'
  readonly recipients: string
  readonly saves_contacts: boolean
  readonly fallbacks: Readonly<Record<string, string>>
  readonly send_at: string
  readonly timezone: string
  readonly from: string
  readonly until: string
  readonly is_recipient_zone: boolean
  readonly rate: string
  readonly is_opt_in: boolean
  readonly is_consented: boolean
}

export const emptyCampaign: CampaignDraft = {
  id: '',
  name: '',
  channel: '',
  type: 'text',
  message: '',
  template: '',
  blanks: {},
  audience: 'segment',
  segment: '',
  list: '',
  tags: '',
  match: 'any',
  recipients: '',
  saves_contacts: false,
  fallbacks: {},
  send_at: '',
  timezone: '',
  from: '',
  until: '',
  is_recipient_zone: false,
  rate: '20',
  is_opt_in: false,
  is_consented: false,
}

/** What the draft would be stored as. */
export function creationOf(draft: CampaignDraft, templates: readonly Template[], zone: string): CampaignCreation {
  const content = contentOf(draft, templates)
  const tags = mergeTagsIn(content)
  const window =
    draft.from.trim() === '' && draft.until.trim() === '' ? null : { start: draft.from.trim(), end: draft.until.trim() }
  return {
    name: draft.name.trim(),
    channel: draft.channel,
    audience: audienceOf(draft),
    message: { type: draft.type, [draft.type]: content } as unknown as CampaignCreation['message'],
    merge_fallbacks: Object.fromEntries(
      Object.entries(draft.fallbacks).filter(([name, value]) => value !== '' && tags.includes(name)),
    ),
    require_opt_in: draft.is_opt_in,
    consent_declared: draft.is_consented,
    schedule: {
      send_at: draft.send_at.trim() === '' ? null : instantOf(draft.send_at, zone),
      ...(draft.timezone === '' ? {} : { timezone: draft.timezone }),
      send_window: window,
      recipient_timezone: draft.is_recipient_zone,
    },
    // what is no number is refused, and said at its field
    throttle_per_second: (/^\d+$/.test(draft.rate.trim()) ? Number(draft.rate) : draft.rate.trim()) as number,
  } as CampaignCreation
}

function audienceOf(draft: CampaignDraft): Audience {
  const type = draft.audience
  if (type === 'segment') return { type, segment_id: draft.segment } as Audience
  if (type === 'list') return { type, list_id: draft.list } as Audience
  if (type === 'tags') return { type, tags: commaSeparated(draft.tags), match: draft.match } as Audience
  return { type, recipients: recipientsIn(draft.recipients), save_as_contacts: draft.saves_contacts } as Audience
}

const commaSeparated = (typed: string): string[] =>
  typed
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

/** A stored draft as a form holds it. */
export function draftOf(campaign: Campaign, templates: readonly Template[], zone: string): CampaignDraft {
  const { audience, schedule } = campaign
  return {
    id: campaign.id,
    name: campaign.name,
    channel: campaign.channel_id,
    ...storedContent(campaign.message, templates),
    audience: audienceTypes.find((type) => type === audience.type) ?? 'adhoc',
    segment: audience.segment_id ?? '',
    list: audience.list_id ?? '',
    tags: (audience.tags ?? []).join(', '),
    match: audience.match === 'all' ? 'all' : 'any',
    recipients: recipientLines(audience.recipients ?? []),
    saves_contacts: audience.save_as_contacts ?? false,
    fallbacks: campaign.merge_fallbacks,
    send_at: schedule.send_at === null ? '' : localOf(schedule.send_at, zone),
    timezone: schedule.timezone,
    from: schedule.send_window?.start ?? '',
    until: schedule.send_window?.end ?? '',
    is_recipient_zone: schedule.recipient_timezone,
    rate: String(campaign.throttle_per_second),
    is_opt_in: campaign.require_opt_in,
    is_consented: campaign.consent_declared,
  }
}
