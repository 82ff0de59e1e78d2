/** An automation as it is entered and as the API has it. */
import { eventFields } from '../../api/generated/tables.ts'
import type { components } from '../../api/generated/v1.ts'
import { contentOf, firstContent, type ContentDraft, type Template } from '../../parts/content.ts'
import { mergeTagsIn } from '../../parts/merge-tags.ts'
import { draftOf as rulesDraftOf, rulesOf, type RulesDraft } from '../../parts/rules.ts'
import { storedContent } from '../../parts/stored-content.ts'

export type Automation = components['schemas']['Automation']
export type AutomationCreation = components['schemas']['AutomationCreation']

export interface AutomationDraft extends ContentDraft {
  /** Of the stored one; empty: nothing is stored yet. */
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
    // what is no number is refused, and said at its field
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

/** A stored automation as a form holds it. */
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
