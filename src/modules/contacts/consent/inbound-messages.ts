/**
 * Inbound messages: find or create the contact, open its service window, and apply keywords (behaviour: consent 3, 4).
 */
import type { Tenant } from '../../../api/caller.ts'
import type { InboundEvent } from '../../../api/domain-events.ts'
import type { ConsentStatus } from '../../../api/resources/contact.ts'
import { isPhoneChannel } from '../../../api/resources/channel.ts'
import { isoTime } from '../../../lib/clock.ts'
import { isE164 } from '../../../lib/phone.ts'
import type { Db, Transaction } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { addressKeyOf, suppressionHash, type AddressKey } from '../addresses.ts'
import { groupByTenant, withConflictRetries } from '../contact-locks.ts'
import { saveContacts } from '../contact-writer.ts'
import type { ContactChange } from '../contact.ts'
import type { SaveContext, SaveItem } from '../save-item.ts'
import { isBotStart, keywordReader, type Keyword } from './keywords.ts'
import { findSuppressions, openWindows } from './repository.ts'
import { setAddressConsent } from './suppressions.ts'

export interface Received {
  /** null when the account has reached its contact limit. */
  readonly contact_id: string | null
  readonly keyword: Keyword | null
  /** Sent once, although the recipient has just opted out. */
  readonly reply: string | null
}

const windowMs = 24 * 3600_000
const windowedTypes: readonly string[] = ['whatsapp']
export const windowUntil = (channel_type: string, at: string): string | null =>
  windowedTypes.includes(channel_type) ? isoTime(Date.parse(at) + windowMs) : null
/** Law and carriers require that opt-outs are confirmed. */
const confirmedTypes: readonly string[] = ['sms']
const nameLengthMax = 255

const statusOfKeyword: Readonly<Record<Keyword, ConsentStatus | null>> = {
  opt_out: 'opted_out',
  opt_in: 'opted_in',
  help: null,
}

type KeywordReader = ReturnType<typeof keywordReader>

export function inboundReceiver(platform: Platform) {
  const keywordOf = keywordReader(platform.settings)
  return async (sql: Db, messages: readonly InboundEvent[]): Promise<Received[]> => {
    const received = new Map<InboundEvent, Received>()
    for (const [tenant, group] of groupByTenant(messages)) {
      const results = await withConflictRetries(sql, (tx) => receiveOfTenant(platform, keywordOf, tx, tenant, group))
      for (const [index, message] of group.entries()) received.set(message, results[index]!)
    }
    return messages.map((message) => received.get(message)!)
  }
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
  const received: Received[] = []
  for (const [index, message] of messages.entries()) {
    const result = results[index]!
    const keyword = keywords[index]!
    const status = keyword === null ? null : statusOfKeyword[keyword]
    let changed =
      result.outcome !== 'refused' &&
      result.transitions.some((one) => one.message_id === message.message_id && one.before !== one.status)
    if (result.outcome === 'refused' && status !== null) {
      const consent = {
        channel_type: message.channel_type,
        key: addressKeyOf(message.channel_type, message.from),
        status,
        source: 'keyword' as const,
        occurred_at: context.at,
        message_id: message.message_id,
      }
      changed = await setAddressConsent(platform, tx, tenant, consent, context)
    }
    const confirmed = keyword === 'opt_out' && changed && confirmedTypes.includes(message.channel_type)
    received.push({
      contact_id: result.outcome === 'refused' ? null : result.row.id,
      keyword,
      reply: confirmed ? confirmation(platform) : null,
    })
  }
  await openWindows(tx, tenant, windowsOf(messages))
  return received
}

/** A Telegram bot's Start is an opt-in only after an opt-out, because everybody has to press it. */
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
  const keys = [...starts].map((message) => ({ channel_type: message.channel_type, address_hash: hashOf(message) }))
  const suppressed = new Set((await findSuppressions(tx, tenant, keys)).map(({ address_hash }) => address_hash))
  return messages.map((message) => {
    const start = suppressed.has(hashOf(message)) ? 'opt_in' : null
    const keyword = starts.has(message) ? start : keywordOf(message.type, message.content)
    if (keyword === 'opt_out') suppressed.add(hashOf(message))
    return keyword
  })
}

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

/** null for short codes and sender names, which nobody can write to. */
function addressOf(message: InboundEvent, key: AddressKey): ContactChange {
  if (key.kind === 'phone') return isE164(message.from) ? { phone: message.from } : {}
  return isPhoneChannel(key.kind) && key.kind !== 'whatsapp' ? {} : { identifiers: { [key.kind]: key.address } }
}

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
