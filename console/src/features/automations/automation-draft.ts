/** An automation as a form edits it. */
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { unwrap, type Problem, v1 } from '../../api/client.ts'
import { eventFields } from '../../api/generated/tables.ts'
import type { components } from '../../api/generated/v1.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useInvalidate } from '../../api/use-api-query.ts'
import { pathTo, type Workspace } from '../../app/paths.ts'
import {
  type ContentDraft,
  contentOf,
  firstContent,
  mergeTagsIn,
  storedContent,
  type Template,
} from '../../components/content/content.ts'
import type { Channels } from '../../components/content/use-channels.ts'
import { draftOf as rulesDraftOf, type RulesDraft, rulesOf } from '../../components/form/rules.ts'
import { useStoredIdempotencyKeys, useDraft } from '../../components/form/use-draft.ts'
import { text } from '../../text/en.ts'

export type Automation = components['schemas']['Automation']
type AutomationCreation = components['schemas']['AutomationCreation']

export interface AutomationDraft extends ContentDraft {
  readonly id: string
  readonly name: string
  readonly source: string
  readonly event: string
  readonly rules: RulesDraft
  readonly delay: string
  readonly cancel_on: string
  readonly channel: string
  readonly category: 'transactional' | 'marketing'
  readonly fallbacks: Readonly<Record<string, string>>
}

export const emptyAutomation: AutomationDraft = {
  ...firstContent,
  id: '',
  name: '',
  source: '',
  event: '',
  rules: { match: 'all', rules: [] },
  delay: '0',
  cancel_on: '',
  channel: '',
  category: 'transactional',
  fallbacks: {},
}

const secondsPerMinute = 60

export function creationOf(draft: AutomationDraft, templates: readonly Template[]): AutomationCreation {
  const content = contentOf(draft, templates)
  const tags = mergeTagsIn(content)
  const minutes = Number(draft.delay.trim())
  return {
    name: draft.name.trim(),
    source_id: draft.source,
    event_type: draft.event.trim(),
    conditions: draft.rules.rules.length === 0 ? null : rulesOf(draft.rules, eventFields),
    // invalid numbers are sent as typed: the API reports them at their field
    delay_seconds: (draft.delay.trim() !== '' && Number.isFinite(minutes)
      ? Math.round(minutes * secondsPerMinute)
      : draft.delay) as number,
    cancel_on: draft.cancel_on
      .split(',')
      .map((type) => type.trim())
      .filter((type) => type !== ''),
    channel_id: draft.channel,
    category: draft.category,
    message: { type: draft.type, [draft.type]: content } as unknown as AutomationCreation['message'],
    merge_fallbacks: Object.fromEntries(
      Object.entries(draft.fallbacks).filter(([name, value]) => value !== '' && tags.includes(name)),
    ),
  }
}

export function draftOf(automation: Automation, templates: readonly Template[]): AutomationDraft {
  return {
    ...storedContent(automation.message, templates),
    id: automation.id,
    name: automation.name,
    source: automation.source_id,
    event: automation.event_type,
    rules: automation.conditions === null ? emptyAutomation.rules : rulesDraftOf(automation.conditions),
    delay: String(automation.delay_seconds / secondsPerMinute),
    cancel_on: automation.cancel_on.join(', '),
    channel: automation.channel_id,
    category: automation.category === 'marketing' ? 'marketing' : 'transactional',
    fallbacks: automation.merge_fallbacks,
  }
}

const words = text.automations.form

/** New automations are paused until activated. */
export type After = 'stay' | 'simulate' | 'activate' | 'pause'

interface AutomationFormState {
  readonly draft: AutomationDraft
  readonly change: (draft: AutomationDraft) => void
  readonly save: (body: AutomationCreation, after: After, onSaved: () => void) => void
  readonly isSaving: After | undefined
  readonly problem: Problem | undefined
  readonly done: string
  readonly discard: () => void
  readonly hasConflict: boolean
}

const said: Readonly<Record<After, string>> = {
  stay: words.saved,
  simulate: '',
  activate: words.activated,
  pause: words.paused,
}

function statusAfter(id: string, after: After): { status?: 'active' | 'paused' } {
  if (after === 'activate') return { status: 'active' }
  return after === 'pause' || id === '' ? { status: 'paused' } : {}
}

interface SaveInput {
  readonly id: string
  readonly body: AutomationCreation
  readonly after: After
}

function saveAutomation(workspace: Workspace, { id, body, after }: SaveInput, key: string) {
  const whole = { ...body, ...statusAfter(id, after) }
  return unwrap(
    id === ''
      ? v1(workspace).POST('/v1/automations', { body: whole, headers: { 'Idempotency-Key': key } })
      : v1(workspace).PATCH('/v1/automations/{id}', { params: { path: { id } }, body: whole as never }),
  )
}

export function useAutomationDraft(
  workspace: Workspace,
  first: AutomationDraft,
  given: Partial<AutomationDraft>,
  channels: Channels,
): AutomationFormState {
  const navigate = useNavigate()
  const invalidate = useInvalidate(workspace)
  const [kept, change, discard, { hasConflict, markSaved }] = useDraft(
    workspace,
    `automation ${first.id === '' ? 'new' : first.id}`,
    first,
  )
  const [isGiven, setGiven] = useState(true)
  const [only] = channels.all
  const written = isGiven ? { ...kept, ...given } : kept
  const draft = written.channel === '' && only !== undefined ? { ...written, channel: only.id } : written
  const [doing, setDoing] = useState<After>()
  const [done, setDone] = useState('')
  const follow = useRef<() => void>(() => undefined)
  const set = (next: AutomationDraft) => {
    setGiven(false)
    change(next)
  }
  const sent = useRef('')
  const action = useApiMutation(
    (input: SaveInput, key) => saveAutomation(workspace, input, key),
    async (automation, { after }) => {
      if (draft.id === '') set({ ...draft, id: automation.id })
      else markSaved()
      setDone(said[after])
      follow.current()
      await invalidate('automations.', 'integration_sources.')
      // edits made while saving
      if (after === 'simulate' || sent.current !== JSON.stringify(draft)) return
      discard()
      if (first.id === '') await navigate({ to: pathTo(workspace, 'automations', automation.id) as never })
    },
    useStoredIdempotencyKeys(workspace, 'new automation'),
  )
  return {
    draft,
    change(next) {
      setDone('')
      set(next)
    },
    save(body, after, onSaved) {
      follow.current = onSaved
      setDoing(after)
      sent.current = JSON.stringify(draft)
      action.run({ id: draft.id, body, after })
    },
    isSaving: action.isRunning ? doing : undefined,
    problem: action.problem,
    done,
    discard,
    hasConflict,
  }
}
