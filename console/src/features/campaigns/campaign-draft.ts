/** A campaign as a form edits it. */
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { unwrap, type Problem, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useInvalidate } from '../../api/use-api-query.ts'
import { pathTo, type Workspace } from '../../app/paths.ts'
import {
  type ContentDraft,
  contentOf,
  mergeTagsIn,
  storedContent,
  type Template,
} from '../../components/content/content.ts'
import type { Channels } from '../../components/content/use-channels.ts'
import { useStoredIdempotencyKeys, useDraft } from '../../components/form/use-draft.ts'
import { parseLocalTime, toLocalTime } from '../../components/format/intl.tsx'
import { text } from '../../text/en.ts'

export type Campaign = components['schemas']['Campaign']
export type CampaignCreation = components['schemas']['CampaignCreation']
type Audience = components['schemas']['CampaignAudienceRequest']

export const audienceTypes = ['segment', 'list', 'tags', 'adhoc'] as const
export type AudienceType = (typeof audienceTypes)[number]

export interface CampaignDraft extends ContentDraft {
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
  templateVariables: {},
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
      send_at: draft.send_at.trim() === '' ? null : parseLocalTime(draft.send_at, zone),
      ...(draft.timezone === '' ? {} : { timezone: draft.timezone }),
      send_window: window,
      recipient_timezone: draft.is_recipient_zone,
    },
    // invalid numbers are sent as typed: the API reports them at their field
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
    send_at: schedule.send_at === null ? '' : toLocalTime(schedule.send_at, zone),
    timezone: schedule.timezone,
    from: schedule.send_window?.start ?? '',
    until: schedule.send_window?.end ?? '',
    is_recipient_zone: schedule.recipient_timezone,
    rate: String(campaign.throttle_per_second),
    is_opt_in: campaign.require_opt_in,
    is_consented: campaign.consent_declared,
  }
}

type Then = 'stay' | 'test' | 'launch'

export interface CampaignForm {
  readonly draft: CampaignDraft
  readonly change: (draft: CampaignDraft) => void
  readonly save: (body: CampaignCreation, then: Then, onSaved: () => void) => void
  readonly isSaving: Then | undefined
  readonly problem: Problem | undefined
  readonly done: string
  readonly discard: () => void
  readonly hasConflict: boolean
  readonly leave: () => Promise<void>
}

function saveCampaign(workspace: Workspace, { id, body }: { id: string; body: CampaignCreation }, key: string) {
  return unwrap(
    id === ''
      ? v1(workspace).POST('/v1/campaigns', { body, headers: { 'Idempotency-Key': key } })
      : v1(workspace).PATCH('/v1/campaigns/{id}', { params: { path: { id } }, body: body as never }),
  )
}

/** Chooses the channel of a new campaign if there is just one. */
function useOnlyChannel(draft: CampaignDraft, change: (draft: CampaignDraft) => void, channels: Channels): void {
  const [only] = channels.all
  useEffect(() => {
    if (draft.channel === '' && only !== undefined)
      change({
        ...draft,
        channel: only.id,
        type: only.capabilities.includes(draft.type) ? draft.type : only.capabilities[0]!,
      })
  })
}

export function useCampaignDraft(workspace: Workspace, first: CampaignDraft, channels: Channels): CampaignForm {
  const navigate = useNavigate()
  const invalidate = useInvalidate(workspace)
  const [draft, change, discard, { hasConflict, markSaved }] = useDraft(
    workspace,
    `campaign ${first.id === '' ? 'new' : first.id}`,
    first,
  )
  const [then, setThen] = useState<Then>()
  const [done, setDone] = useState('')
  const follow = useRef<() => void>(() => undefined)
  const sent = useRef('')
  const action = useApiMutation(
    (input: { id: string; body: CampaignCreation; after: Then }, key) => saveCampaign(workspace, input, key),
    async (campaign, input) => {
      if (input.id === '') change({ ...draft, id: campaign.id })
      else markSaved()
      follow.current()
      setDone(input.after === 'stay' ? text.campaigns.form.saved : '')
      await invalidate('campaigns.list')
      // edits made while saving
      if (input.after !== 'stay' || sent.current !== JSON.stringify(draft)) return
      discard()
      await invalidate('campaigns.')
      await navigate({ to: pathTo(workspace, 'campaigns', campaign.id) as never })
    },
    useStoredIdempotencyKeys(workspace, 'new campaign'),
  )
  useOnlyChannel(draft, change, channels)
  return {
    draft,
    change: (next) => {
      setDone('')
      change(next)
    },
    save(body, next, onSaved) {
      follow.current = onSaved
      setThen(next)
      sent.current = JSON.stringify(draft)
      action.run({ id: draft.id, body, after: next })
    },
    isSaving: action.isRunning ? then : undefined,
    problem: action.problem,
    done,
    discard,
    hasConflict,
    async leave() {
      const { id } = draft
      await invalidate('campaigns.')
      await navigate({ to: pathTo(workspace, 'campaigns', id) as never })
      discard()
    },
  }
}

type Recipient = NonNullable<components['schemas']['CampaignAudienceRequest']['recipients']>[number]

const usual: readonly string[] = ['to', 'first_name', 'last_name']

const linesOf = (typed: string): string[] => typed.split(/\r?\n/).filter((line) => line.trim() !== '')

function cellsOf(line: string): string[] {
  const cells = [...line.matchAll(/(?:^|[,;\t])\s*(?:"((?:[^"]|"")*)"|([^,;\t]*))/g)]
  return cells.map(([, quoted, plain]) => (quoted === undefined ? (plain ?? '').trim() : quoted.replaceAll('""', '"')))
}

const hasNames = (cells: readonly string[]): boolean => cells[0]?.toLowerCase() === 'to'

function recipientsIn(typed: string): Recipient[] {
  const rows = linesOf(typed).map(cellsOf)
  const [head] = rows
  const isNamed = head !== undefined && hasNames(head)
  const names = isNamed ? head.map((name, at) => (at === 0 ? 'to' : name)) : usual
  return (isNamed ? rows.slice(1) : rows).map((cells) => recipientOf(names, cells))
}

function recipientOf(names: readonly string[], cells: readonly string[]): Recipient {
  const filled = names.map((name, at) => [name, cells[at] ?? ''] as const).filter(([, value]) => value !== '')
  const variables = filled.filter(([name]) => !usual.includes(name))
  const known = Object.fromEntries(filled.filter(([name]) => usual.includes(name)))
  return { to: '', ...known, ...(variables.length === 0 ? {} : { variables: Object.fromEntries(variables) }) }
}

export function recipientCount(typed: string): number {
  const lines = linesOf(typed)
  return lines[0] !== undefined && hasNames(cellsOf(lines[0])) ? lines.length - 1 : lines.length
}

function recipientLines(recipients: readonly Recipient[]): string {
  const variables = [...new Set(recipients.flatMap((one) => Object.keys(one.variables ?? {})))]
  const isPlain = variables.length === 0
  const lines = recipients.map((one) => {
    const cells = [
      one.to,
      one.first_name ?? '',
      one.last_name ?? '',
      ...variables.map((name) => String(one.variables?.[name] ?? '')),
    ]
    return cells
      .map(written)
      .join(',')
      .replace(isPlain ? /,+$/ : /(?!)/, '')
  })
  return (isPlain ? lines : [[...usual, ...variables].join(','), ...lines]).join('\n')
}

const written = (cell: string): string => (/[",;\t]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
