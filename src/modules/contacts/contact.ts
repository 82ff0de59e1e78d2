/** A contact: its row, how a change applies to it, and its JSON. Pure. */
import type {
  AttributeValue,
  ConsentSource,
  ConsentState,
  ConsentStatus,
  Contact,
} from '../../api/resources/contact.ts'
import { countryOf, phoneKey } from '../../lib/phone.ts'
import type { AddressKey } from './addresses.ts'

export interface ConsentWrite {
  readonly status?: ConsentStatus
  readonly source?: ConsentSource
  readonly occurred_at?: string
  readonly marketing?: ConsentStatus
}

/** Normalised: absent fields stay, null clears. */
export interface ContactChange {
  readonly phone?: string | null
  readonly email?: string | null
  readonly first_name?: string | null
  readonly last_name?: string | null
  readonly locale?: string | null
  readonly timezone?: string | null
  readonly external_id?: string | null
  readonly blocked?: boolean
  readonly metadata?: Record<string, unknown>
  /** Merged by key. */
  readonly identifiers?: Readonly<Record<string, string | null>>
  readonly attributes?: Readonly<Record<string, AttributeValue | null>>
  /** null means `unknown`. */
  readonly consent?: Readonly<Record<string, ConsentWrite | null>>
  /** Replaces all tags. */
  readonly tags?: readonly string[]
  readonly add_tags?: readonly string[]
  readonly remove_tags?: readonly string[]
}

/** `channel_type` ends in `.marketing` for marketing alone. */
export interface ConsentTransition {
  readonly channel_type: string
  readonly before: ConsentStatus
  readonly status: ConsentStatus
  readonly source: ConsentSource
  readonly occurred_at: string
}

export interface ChangeContext {
  readonly at: string
  readonly source: ConsentSource
}

export const foldText = (text: string): string => (plain.test(text) ? text : text.normalize('NFC')).toLowerCase()
const plain = /^[ -~]*$/

export const marketingType = (channelType: string): string => `${channelType}.marketing`

export function newContact(tenant: { account_id: string; mode: 'live' | 'test' }, id: string, at: string): ContactRow {
  return {
    account_id: tenant.account_id,
    mode: tenant.mode,
    id,
    phone: null,
    phone_key: null,
    email: null,
    first_name: null,
    last_name: null,
    full_name: null,
    locale: null,
    timezone: null,
    country: null,
    external_id: null,
    identifiers: {},
    tags: [],
    attributes: {},
    metadata: {},
    consent: {},
    blocked: false,
    last_seen_at: null,
    last_message_at: null,
    created_at: at,
    updated_at: at,
  }
}

const plainFields = ['email', 'first_name', 'last_name', 'locale', 'timezone', 'external_id'] as const

interface ConsentChanges {
  readonly transitions: ConsentTransition[]
  readonly restated: ConsentTransition[]
}

export function applyChange(
  row: ContactRow,
  change: ContactChange,
  context: ChangeContext,
): { row: ContactRow } & ConsentChanges {
  const next: ContactRow = { ...row }
  if (change.phone !== undefined && change.phone !== row.phone) {
    next.phone = change.phone
    next.phone_key = change.phone === null ? null : phoneKey(change.phone)
    next.country = change.phone === null ? null : countryOf(change.phone)
  }
  for (const field of plainFields) if (change[field] !== undefined) next[field] = change[field]
  if (change.blocked !== undefined) next.blocked = change.blocked
  if (change.metadata !== undefined) next.metadata = change.metadata
  if (change.identifiers !== undefined) next.identifiers = mergeKeys(row.identifiers, change.identifiers)
  if (change.attributes !== undefined) next.attributes = mergeKeys(row.attributes, change.attributes)
  next.tags = changedTags(row.tags, change)
  next.full_name = fullName(next)
  const { consent, ...changes } = changedConsent(row.consent, change.consent ?? {}, context)
  next.consent = consent
  if (sameContact(row, next)) return { row, ...changes }
  next.updated_at = context.at
  return { row: next, ...changes }
}

export const fullName = ({ first_name, last_name }: Pick<ContactRow, 'first_name' | 'last_name'>): string | null =>
  first_name !== null && last_name !== null ? `${first_name} ${last_name}` : (first_name ?? last_name)

function mergeKeys<T>(values: Record<string, T>, change: Readonly<Record<string, T | null>>): Record<string, T> {
  if (isEmpty(change)) return values
  if (isEmpty(values)) return inOrder(change)
  const merged = new Map(Object.entries(values))
  for (const [key, value] of Object.entries(change)) {
    if (value === null) merged.delete(key)
    else merged.set(key, value)
  }
  return Object.fromEntries([...merged].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function changedTags(tags: string[], change: ContactChange): string[] {
  if (change.tags === undefined && change.add_tags === undefined && change.remove_tags === undefined) return tags
  if (tags.length === 0 && change.add_tags?.length === 1 && change.tags === undefined) return [change.add_tags[0]!]
  const spelling = new Map(tags.map((tag) => [foldText(tag), tag]))
  const result = new Map(change.tags === undefined ? spelling : [])
  for (const tag of change.remove_tags ?? []) result.delete(foldText(tag))
  for (const tag of [...(change.tags ?? []), ...(change.add_tags ?? [])]) {
    const key = foldText(tag)
    if (!result.has(key)) result.set(key, spelling.get(key) ?? tag)
  }
  return [...result.values()].sort()
}

/** Sorted by key, without nulls; the same object if it already is. */
function inOrder<T>(values: Readonly<Record<string, T | null>>): Record<string, T> {
  let [last, done] = ['', true]
  for (const key in values) {
    done &&= values[key] !== null && last < key
    last = key
  }
  if (done) return values as Record<string, T>
  const ordered: Record<string, T> = {}
  for (const key of Object.keys(values).sort()) if (values[key] !== null) ordered[key] = values[key] as T
  return ordered
}

export function isEmpty(object: object): boolean {
  for (const _ in object) return false
  return true
}

function changedConsent(
  consent: ContactRow['consent'],
  writes: Readonly<Record<string, ConsentWrite | null>>,
  context: ChangeContext,
): { consent: ContactRow['consent'] } & ConsentChanges {
  if (isEmpty(writes)) return { consent, transitions: [], restated: [] }
  const next: ContactRow['consent'] = { ...consent }
  const transitions: ConsentTransition[] = []
  const restated: ConsentTransition[] = []
  for (const type in writes) {
    const { state, ...changes } = consentAfter(type, next[type], writes[type] ?? null, context)
    transitions.push(...changes.transitions)
    restated.push(...changes.restated)
    if (state === undefined) delete next[type]
    else next[type] = state
  }
  return { consent: inOrder(next), transitions, restated }
}

function consentAfter(
  type: string,
  before: ConsentState | undefined,
  write: ConsentWrite | null,
  context: ChangeContext,
): { state: ConsentState | undefined } & ConsentChanges {
  const words: ConsentWrite = write ?? { status: 'unknown', marketing: 'unknown' }
  const source = words.source ?? context.source
  const occurred_at = words.occurred_at ?? context.at
  const changes: ConsentChanges = { transitions: [], restated: [] }
  const record = (channel_type: string, before: ConsentStatus, status: ConsentStatus, isNew: boolean) =>
    (isNew ? changes.transitions : changes.restated).push({ channel_type, before, status, source, occurred_at })
  const { status: statusBefore = 'unknown', marketing: marketingBefore = 'unknown' } = before ?? {}
  const { status = statusBefore, marketing = marketingBefore } = words
  if (words.status !== undefined)
    record(type, statusBefore, status, status !== statusBefore || isNewProof(words, before))
  if (words.marketing !== undefined)
    record(marketingType(type), marketingBefore, marketing, marketing !== marketingBefore || isNewProof(words, before))
  if (write === null) return { state: undefined, ...changes }
  if (changes.transitions.length === 0 && before !== undefined) return { state: before, ...changes }
  return {
    state: { status, source, updated_at: occurred_at, ...(marketing === 'unknown' ? {} : { marketing }) },
    ...changes,
  }
}

/** The long form may add a time or source, which belongs in the history. */
const isNewProof = (write: ConsentWrite, before: ConsentState | undefined): boolean =>
  (write.source !== undefined && write.source !== before?.source) ||
  (write.occurred_at !== undefined && write.occurred_at !== before?.updated_at)

export type ConsentStatuses = Readonly<Record<string, Pick<ConsentWrite, 'status' | 'marketing'> | null>>

export function statusOf(consent: ConsentStatuses, channelType: string): ConsentStatus {
  const [type, part] = channelType.split('.') as [string, string | undefined]
  const state = consent[type]
  return (part === undefined ? state?.status : state?.marketing) ?? 'unknown'
}

/** With `marketing`, also opted out of marketing alone. */
export const hasStopped = (
  { blocked, consent }: Pick<ContactRow, 'blocked' | 'consent'>,
  channel_type: string,
  marketing: boolean,
): boolean =>
  blocked ||
  statusOf(consent, channel_type) === 'opted_out' ||
  (marketing && statusOf(consent, marketingType(channel_type)) === 'opted_out')

export function addressesOf(row: Pick<ContactRow, 'phone_key' | 'identifiers'>): AddressKey[] {
  const addresses: AddressKey[] = row.phone_key === null ? [] : [{ kind: 'phone', address: row.phone_key }]
  for (const kind in row.identifiers) addresses.push({ kind, address: row.identifiers[kind]! })
  return addresses
}

export interface SearchColumns {
  readonly name_key: string | null
  readonly last_name_key: string | null
  readonly email_key: string | null
  readonly labels: string[]
}

export function searchColumns(row: ContactRow): SearchColumns {
  return {
    name_key: row.full_name === null ? null : foldText(row.full_name),
    last_name_key: row.last_name === null || row.first_name === null ? null : foldText(row.last_name),
    email_key: row.email === null ? null : foldText(row.email),
    labels: labelsOf(row),
  }
}

export const tagLabel = (tag: string): string => `t:${foldText(tag)}`
export const consentLabel = (channelType: string, status: ConsentStatus): string => `c:${channelType}:${status}`

/** `t:<tag>` and `c:<channel type>:<status>`; `unknown` has no label. */
export function labelsOf(row: Pick<ContactRow, 'tags' | 'consent'>): string[] {
  const labels = row.tags.map(tagLabel)
  for (const type in row.consent) {
    const state = row.consent[type]!
    if (state.status !== 'unknown') labels.push(consentLabel(type, state.status))
    if (state.marketing !== undefined && state.marketing !== 'unknown')
      labels.push(consentLabel(marketingType(type), state.marketing))
  }
  return labels
}

const comparedFields = ['phone', 'blocked', ...plainFields] as const

function sameContact(a: ContactRow, b: ContactRow): boolean {
  for (const field of comparedFields) if (a[field] !== b[field]) return false
  return (
    same(a.tags, b.tags) &&
    same(a.identifiers, b.identifiers) &&
    same(a.attributes, b.attributes) &&
    same(a.metadata, b.metadata) &&
    same(a.consent, b.consent)
  )
}

function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (
    typeof a !== 'object' ||
    typeof b !== 'object' ||
    a === null ||
    b === null ||
    Array.isArray(a) !== Array.isArray(b)
  )
    return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every(
    (key) => Object.hasOwn(b, key) && same((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  )
}

export interface ContactRow {
  account_id: string
  mode: 'live' | 'test'
  id: string
  phone: string | null
  phone_key: string | null
  email: string | null
  first_name: string | null
  last_name: string | null
  full_name: string | null
  locale: string | null
  timezone: string | null
  country: string | null
  external_id: string | null
  identifiers: Record<string, string>
  tags: string[]
  attributes: Record<string, AttributeValue>
  metadata: Record<string, unknown>
  consent: Record<string, ConsentState>
  blocked: boolean
  last_seen_at: string | null
  last_message_at: string | null
  created_at: string
  updated_at: string
}

export type Windows = Record<string, { window_expires_at: string | null }>

export interface ConsentChangeRow {
  readonly contact_id: string
  readonly id: string
  readonly channel_type: string
  readonly status: ConsentStatus
  readonly source: ConsentSource
  readonly message_id: string | null
  readonly request_id: string | null
  readonly occurred_at: string
}

export function contactObject(row: ContactRow, windows: Windows): Contact {
  return {
    id: row.id,
    object: 'contact',
    mode: row.mode,
    phone: row.phone,
    email: row.email,
    first_name: row.first_name,
    last_name: row.last_name,
    full_name: row.full_name,
    locale: row.locale,
    timezone: row.timezone,
    country: row.country,
    identifiers: row.identifiers,
    consent: row.consent,
    tags: row.tags,
    attributes: row.attributes,
    metadata: row.metadata,
    blocked: row.blocked,
    external_id: row.external_id,
    windows,
    last_seen_at: row.last_seen_at,
    last_message_at: row.last_message_at,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}
