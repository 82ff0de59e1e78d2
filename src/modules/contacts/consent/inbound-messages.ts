/** What an inbound message means for the people behind the numbers: the contact, its service window, and the keywords it may hold (behaviour: consent 4). */
import type { Tenant } from '../../../api/caller.ts'
import type { InboundEvent } from '../../../api/domain-events.ts'
import type { ConsentSource, ConsentStatus } from '../../../api/resources/contact.ts'
import { isPhoneChannel } from '../../../api/resources/channel.ts'
import { isoTime } from '../../../lib/clock.ts'
import { isE164 } from '../../../lib/phone.ts'
import type { Db, Transaction } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { stop } from './suppressions.ts'
import {
  deleteSuppressions,
  findSuppressions,
  lastConsentChanges,
  openWindows,
  type LastConsentChange,
} from './repository.ts'
import { marketingType, type ConsentWrite, type ContactChange } from '../contact.ts'
import { isBotStart, keywordReader, type Keyword } from './keywords.ts'
import { addressKeyOf, suppressionHash, type AddressKey } from '../addresses.ts'
import { saveContacts } from '../contact-writer.ts'
import { keyText, requireOwner, withRaces } from '../contact-locks.ts'
import type { SaveContext, SaveItem } from '../save-item.ts'
import { findAddresses, lockContacts } from '../repository.ts'

export interface Received {
  /** The contact that wrote; null where the account is at its contact cap. */
  readonly contact_id: string | null
  readonly keyword: Keyword | null
  /** A text to send back, once, although the recipient has just opted out; null: nothing. */
  readonly reply: string | null
}

/** What a provider itself says about a recipient's consent. */
export interface ProviderConsent extends Tenant {
  readonly channel_type: string
  /** The recipient as on messages. */
  readonly address: string
  readonly status: ConsentStatus
  /** Only marketing is meant. */
  readonly marketing: boolean
  /** ISO 8601; what is older than the last word of a contact does not count. */
  readonly occurred_at: string
  readonly message_id?: string
}

const windowMs = 24 * 3600_000
/** The channel types whose recipients can be written to freely only for a while after they wrote. */
const windowedTypes: readonly string[] = ['whatsapp']
/** Until when somebody who wrote at a moment may be written to freely on a kind of channel; null: without such a bound. */
export const windowUntil = (channel_type: string, at: string): string | null =>
  windowedTypes.includes(channel_type) ? isoTime(Date.parse(at) + windowMs) : null
/** Where law and carriers want an opt-out confirmed, once. */
const confirmedTypes: readonly string[] = ['sms']
const nameLengthMax = 255

const statusOfKeyword: Readonly<Record<Keyword, ConsentStatus | null>> = {
  opt_out: 'opted_out',
  opt_in: 'opted_in',
  help: null,
}

export interface InboundPart {
  /**
   * Inside the transaction that stores inbound messages: creates or links contacts, opens windows, applies keywords (and so
   * publishes `opted_out`). One answer per message, in order.
   */
  receiveInbound(tx: Db, messages: readonly InboundEvent[]): Promise<Received[]>
  /** Inside the caller's transaction: what providers tell about consent; creates no contact. */
  receiveProviderConsent(tx: Db, changes: readonly ProviderConsent[]): Promise<void>
}

export function inboundPart(platform: Platform): InboundPart {
  const keywordOf = keywordReader(platform.settings)
  return {
    receiveInbound: (tx, messages) => receiveInbound(platform, keywordOf, tx, messages),
    receiveProviderConsent: (tx, changes) => receiveProviderConsent(platform, tx, changes),
  }
}

type KeywordReader = ReturnType<typeof keywordReader>

async function receiveInbound(
  platform: Platform,
  keywordOf: KeywordReader,
  sql: Db,
  messages: readonly InboundEvent[],
): Promise<Received[]> {
  const answers = new Map<InboundEvent, Received>()
  for (const [tenant, group] of byTenant(messages)) {
    const received = await withRaces(sql, (tx) => receiveOfTenant(platform, keywordOf, tx, tenant, group))
    for (const [index, message] of group.entries()) answers.set(message, received[index]!)
  }
  return messages.map((message) => answers.get(message)!)
}

async function receiveOfTenant(
  platform: Platform,
  keywordOf: KeywordReader,
  tx: Transaction,
  tenant: Tenant,
  messages: readonly InboundEvent[],
): Promise<Received[]> {
  const context: SaveContext = { at: isoTime(platform.clock.now()), source: 'keyword' }
  const keywords = await keywordsOf(platform, keywordOf, tx, tenant, messages)
  const items = messages.map((message, index) => linkItem(message, keywords[index]!))
  const results = await saveContacts(platform, tx, tenant, items, context)
  const answers: Received[] = []
  for (const [index, message] of messages.entries()) {
    const result = results[index]!
    const keyword = keywords[index]!
    const status = keyword === null ? null : statusOfKeyword[keyword]
    let changed =
      result.outcome !== 'refused' &&
      result.transitions.some((one) => one.message_id === message.message_id && one.before !== one.status)
    if (result.outcome === 'refused' && status !== null)
      changed = await setStranger(
        platform,
        tx,
        tenant,
        { ...strangerOf(message), status, source: 'keyword', occurred_at: context.at },
        context,
      )
    const confirmed = keyword === 'opt_out' && changed && confirmedTypes.includes(message.channel_type)
    answers.push({
      contact_id: result.outcome === 'refused' ? null : result.row.id,
      keyword,
      reply: confirmed ? confirmation(platform) : null,
    })
  }
  await openWindows(tx, tenant, windowsOf(messages))
  return answers
}

/** The keyword of each message. A bot's Start lifts an earlier opt-out and is nothing else: it says no more than that somebody is there. */
async function keywordsOf(
  platform: Platform,
  keywordOf: KeywordReader,
  tx: Transaction,
  tenant: Tenant,
  messages: readonly InboundEvent[],
): Promise<(Keyword | null)[]> {
  const hashOf = ({ channel_type, from }: InboundEvent) =>
    suppressionHash(platform.secrets, tenant, channel_type, addressKeyOf(channel_type, from).address)
  const starts = new Set(messages.filter(({ channel_type, type, content }) => isBotStart(channel_type, type, content)))
  if (starts.size === 0) return messages.map(({ type, content }) => keywordOf(type, content))
  const asked = [...starts].map((message) => ({ channel_type: message.channel_type, address_hash: hashOf(message) }))
  const stopped = new Set((await findSuppressions(tx, tenant, asked)).map(({ address_hash }) => address_hash))
  return messages.map((message) => {
    const keyword = starts.has(message)
      ? stopped.has(hashOf(message))
        ? 'opt_in'
        : null
      : keywordOf(message.type, message.content)
    // what was said a message before counts already
    if (keyword === 'opt_out') stopped.add(hashOf(message))
    return keyword
  })
}

/** Consent of somebody who is no contact lives in the suppressions alone: what a provider tells late lifts no later one. True when it changed. */
async function setStranger(
  platform: Platform,
  tx: Transaction,
  tenant: Tenant,
  one: Stranger,
  context: SaveContext,
): Promise<boolean> {
  if (one.status === 'opted_out')
    return (await stop(platform, tx, tenant, [{ ...one, contact_id: null }], context)).length > 0
  const { channel_type, key, source, occurred_at } = one
  const address_hash = suppressionHash(platform.secrets, tenant, channel_type, key.address)
  return (
    (await deleteSuppressions(tx, tenant, [
      { channel_type, address_hash, ...(source === 'provider' ? { until: occurred_at } : {}) },
    ])) > 0
  )
}

async function receiveProviderConsent(platform: Platform, sql: Db, changes: readonly ProviderConsent[]): Promise<void> {
  for (const [tenant, group] of byTenant(changes))
    await withRaces(sql, (tx) => providerConsentOfTenant(platform, tx, tenant, group))
}

const consentType = ({ channel_type, marketing }: ProviderConsent): string =>
  marketing ? marketingType(channel_type) : channel_type

/** Whether the recipient has said something since. A stop gives way to the provider's word alone, or to a later stop. */
const isLate = ({ status, occurred_at }: ProviderConsent, last: LastConsentChange | undefined): boolean =>
  last !== undefined &&
  Date.parse(occurred_at) < Date.parse(last.occurred_at) &&
  (status !== 'opted_out' || last.source === 'provider' || last.status === 'opted_out')

async function providerConsentOfTenant(
  platform: Platform,
  tx: Transaction,
  tenant: Tenant,
  changes: readonly ProviderConsent[],
): Promise<void> {
  const context: SaveContext = { at: isoTime(platform.clock.now()), source: 'provider' }
  const keys = changes.map((one) => addressKeyOf(one.channel_type, one.address))
  const addresses = await findAddresses(tx, tenant, keys)
  const owners = new Map(addresses.map((row) => [keyText(row), row.contact_id]))
  // what is said of an address is nobody's any more whose contact is deleted, or has another address, in between
  const held = new Map((await lockContacts(tx, tenant, [...new Set(owners.values())])).map((row) => [row.id, row]))
  for (const address of addresses) requireOwner(held.get(address.contact_id), address)
  const last = await lastConsentChanges(tx, tenant, [...owners.values()], [...new Set(changes.map(consentType))])
  const items: SaveItem[] = []
  for (const [index, one] of changes.entries()) {
    const key = keys[index]!
    const id = owners.get(keyText(key))
    const write: ConsentWrite = {
      ...(one.marketing ? { marketing: one.status } : { status: one.status }),
      source: 'provider',
      occurred_at: one.occurred_at,
    }
    if (isLate(one, last.get(`${id}|${consentType(one)}`))) continue
    if (id !== undefined)
      items.push({
        kind: 'update',
        id,
        change: { consent: { [one.channel_type]: write } },
        ...(one.message_id === undefined ? {} : { message_id: one.message_id }),
      })
    else
      await setStranger(
        platform,
        tx,
        tenant,
        {
          channel_type: consentType(one),
          key,
          status: one.status,
          source: 'provider',
          occurred_at: one.occurred_at,
          message_id: one.message_id ?? null,
        },
        context,
      )
  }
  await saveContacts(platform, tx, tenant, items, context)
}

interface Stranger {
  readonly channel_type: string
  readonly key: AddressKey
  readonly status: ConsentStatus
  readonly source: ConsentSource
  readonly occurred_at: string
  readonly message_id: string | null
}

const strangerOf = (message: InboundEvent) => ({
  channel_type: message.channel_type,
  key: addressKeyOf(message.channel_type, message.from),
  message_id: message.message_id,
})

function linkItem(message: InboundEvent, keyword: Keyword | null): SaveItem {
  const status = keyword === null ? null : statusOfKeyword[keyword]
  const key = addressKeyOf(message.channel_type, message.from)
  const change: ContactChange = status === null ? {} : { consent: { [message.channel_type]: { status } } }
  const address = addressOf(message, key)
  return {
    kind: 'link',
    key,
    change,
    creation: { ...address, ...namesOf(message.profile_name) },
    seen_at: message.received_at,
    message_id: message.message_id,
  }
}

/** What a new contact is found by. A short code or a sender's name on sms is nobody to write to: without an address there is no contact. */
function addressOf(message: InboundEvent, key: AddressKey): ContactChange {
  if (key.kind === 'phone') return isE164(message.from) ? { phone: message.from } : {}
  return isPhoneChannel(key.kind) && key.kind !== 'whatsapp' ? {} : { identifiers: { [key.kind]: key.address } }
}

/** The name in a provider's profile: its first word is the first name, so that the whole stays the full name. */
function namesOf(profileName: string | null): ContactChange {
  const words = (profileName ?? '')
    .trim()
    .split(/\s+/u)
    .filter((word) => word !== '')
  const cut = (text: string) => [...text].slice(0, nameLengthMax).join('') || null
  return words.length === 0 ? {} : { first_name: cut(words[0]!), last_name: cut(words.slice(1).join(' ')) }
}

function windowsOf(messages: readonly InboundEvent[]) {
  return messages
    .filter((message) => windowedTypes.includes(message.channel_type))
    .map((message) => ({
      address: addressKeyOf(message.channel_type, message.from).address,
      channel_id: message.channel_id,
      expires_at: isoTime(Date.parse(message.received_at) + windowMs),
    }))
}

function confirmation(platform: Platform): string {
  const start = platform.settings.opt_in_keywords[0]
  return `You are unsubscribed and will get no more messages from us.${start === undefined ? '' : ` Reply ${start} to subscribe again.`}`
}

/** Groups by account and mode, in the order of first appearance made stable by sorting: transactions of several accounts lock them in one order. */
function byTenant<T extends Tenant>(rows: readonly T[]): [Tenant, T[]][] {
  const groups = new Map<string, [Tenant, T[]]>()
  for (const row of rows) {
    const text = `${row.account_id}|${row.mode}`
    const group = groups.get(text)
    if (group === undefined) groups.set(text, [{ account_id: row.account_id, mode: row.mode }, [row]])
    else group[1].push(row)
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group)
}
