/** A contact as it is entered, and the request that saves it. */
import { channelTypes } from '../../api/generated/tables.ts'
import type { components } from '../../api/generated/v1.ts'
import { objectIn } from '../../parts/json-object.ts'
import type { Contact } from './contact.ts'

type Body = components['schemas']['ContactUpdate']

export interface ContactDraft {
  readonly phone: string
  readonly email: string
  readonly first_name: string
  readonly last_name: string
  readonly locale: string
  readonly timezone: string
  readonly external_id: string
  readonly tags: string
  readonly identifiers: string
  readonly attributes: string
  readonly metadata: string
}

/** By channel type; empty: as it is. It is no part of the draft: what was chosen once is not to be sent after a refusal. */
export type ConsentChosen = Readonly<Record<string, string>>

const texts = ['phone', 'email', 'first_name', 'last_name', 'locale', 'timezone', 'external_id'] as const
const objects = ['identifiers', 'attributes', 'metadata'] as const
export type TextName = (typeof texts)[number]
export type ObjectName = (typeof objects)[number]
export const draftNames: readonly string[] = [...texts, ...objects, 'tags', 'consent']

const asJson = (value: object | undefined): string =>
  value === undefined || Object.keys(value).length === 0 ? '' : JSON.stringify(value, null, 2)

/** Of a stored contact, or empty. */
export function draftOf(contact: Contact | undefined): ContactDraft {
  const of = (name: TextName) => contact?.[name] ?? ''
  return {
    phone: of('phone'),
    email: of('email'),
    first_name: of('first_name'),
    last_name: of('last_name'),
    locale: of('locale'),
    timezone: of('timezone'),
    external_id: of('external_id'),
    tags: contact?.tags.join(', ') ?? '',
    identifiers: asJson(contact?.identifiers),
    attributes: asJson(contact?.attributes),
    metadata: asJson(contact?.metadata),
  }
}

/** What differs between the drafts, and the consent that was chosen, as a change; undefined while something is no object in JSON. */
export function changeOf(before: ContactDraft, after: ContactDraft, chosen: ConsentChosen): Body | undefined {
  const change: Record<string, unknown> = {}
  for (const name of texts)
    if (after[name].trim() !== before[name]) change[name] = after[name].trim() === '' ? null : after[name].trim()
  if (after.tags !== before.tags) change['tags'] = splitTags(after.tags)
  for (const name of objects) {
    if (after[name] === before[name]) continue
    const written = objectIn(after[name])
    if (written === undefined) return undefined
    change[name] = name === 'metadata' ? written : mergeOf(objectIn(before[name]) ?? {}, written)
  }
  const consent = Object.entries(chosen).filter(
    ([type, status]) => status !== '' && (channelTypes as readonly string[]).includes(type),
  )
  if (consent.length > 0) change['consent'] = Object.fromEntries(consent)
  return change as Body
}

/** Of an object that is merged by key: the keys that differ; what has gone is null. */
function mergeOf(before: object, after: object): object {
  const was = new Map(Object.entries(before).map(([key, value]) => [key, JSON.stringify(value)]))
  const changed = Object.entries(after).filter(([key, value]) => was.get(key) !== JSON.stringify(value))
  const gone = [...was.keys()].filter((key) => !(key in after))
  return Object.fromEntries([...changed, ...gone.map((key) => [key, null])])
}

export const splitTags = (written: string): string[] =>
  written
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
