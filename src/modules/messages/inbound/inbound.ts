/** Stores messages from recipients with contact, events, media and keywords in one transaction. */
import type { Tenant } from '../../../api/caller.ts'
import type { ConsentEvent, InboundEvent } from '../../../api/domain-events.ts'
import { messageObject, type MessageRow } from '../message.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { recordEvents } from '../../../platform/events/outbox.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { InboundMessage } from '../../../providers/provider.ts'
import type { ChannelRow } from '../../channels/service.ts'
import { addressKeyOf, type ContactService, recipientsOf } from '../../contacts/service.ts'
import { insertMedia, type MediaService, type NewMedia } from '../../media/service.ts'
import { smsEncoding, type SmsShape } from '../../../lib/gsm.ts'
import { insertMessages, type PaidRow } from '../accept/repository.ts'
import type { Projections } from '../projections.ts'
import { insertInbound, insertReferences, listWaiting } from './repository.ts'
import { applyTransitions, type TransitionDeps } from '../transitions.ts'
import type { ConsentRecheck } from '../dispatch/consent.ts'
import { endJobs } from '../dispatch/repository.ts'
import type { Withdrawing } from '../dispatch/in-progress.ts'
import { findMessage } from '../repository.ts'

export interface NewInbound extends Tenant {
  readonly channel: ChannelRow
  readonly from: string
  readonly profile_name: string | null
  readonly type: string
  readonly content: unknown
  readonly reply_to: string | null
  /** Null if the provider has no id: such messages may be stored twice. */
  readonly provider_id: string | null
  readonly media?: InboundMessage['media']
}

export interface InboundDeps {
  readonly platform: Platform
  readonly media: MediaService
  readonly contacts: ContactService
  readonly projections: Projections
}

export interface StoredInbound {
  /** Without those stored before. */
  readonly rows: readonly MessageRow[]
  /** Wake their projections and `dispatch` after the commit. */
  readonly replies: readonly { readonly origin_type: string }[]
  /** Wake `media` after the commit. */
  readonly files: number
}

export async function storeInbound(
  { platform, contacts, projections, media }: InboundDeps,
  tx: Db,
  messages: readonly NewInbound[],
): Promise<StoredInbound> {
  const at = isoTime(platform.clock.now())
  const identified = messages.map((inbound): Identified => ({ inbound, id: platform.ids('msg') }))
  const unseen = await onlyNew(tx, identified, at)
  if (unseen.length === 0) return { rows: [], replies: [], files: 0 }
  const { fresh, files } = withAnnouncedMedia(media, unseen)
  const events = fresh.map((one) => inboundEvent(one, at))
  const received = await contacts.receiveInbound(tx, events)
  const rows = fresh.map(({ inbound, id }, index) => rowOf(inbound, id, at, received[index]?.contact_id ?? null))
  await insertInbound(tx, rows)
  await insertMedia(tx, files)
  await recordReceived(platform, tx, fresh, rows, at)
  const confirmations = fresh.flatMap(({ inbound }, index) => {
    const text = received[index]?.reply
    return text === null || text === undefined ? [] : [{ inbound, row: rows[index]!, text }]
  })
  const replies = await sendReplies(platform, projections, tx, confirmations, at)
  await platform.domain_events.publish(
    tx,
    'inbound_stored',
    events.map((event, index) => ({ ...event, contact_id: rows[index]!.contact_id })),
  )
  return { rows, replies, files: files.length }
}

interface Identified {
  readonly inbound: NewInbound
  readonly id: string
}

function withAnnouncedMedia(
  media: MediaService,
  messages: readonly Identified[],
): { fresh: Identified[]; files: NewMedia[] } {
  const files: NewMedia[] = []
  const fresh = messages.map(({ inbound, id }) => {
    const { type, content, channel } = inbound
    const file = { type, content, media: inbound.media, channel_id: channel.id, message_id: id }
    const announced = media.announce(inbound, file)
    files.push(...announced.rows)
    return { id, inbound: { ...inbound, type: announced.type, content: announced.content } }
  })
  return { fresh, files }
}

const inboundEvent = ({ inbound, id }: Identified, at: string): InboundEvent => ({
  account_id: inbound.account_id,
  mode: inbound.mode,
  message_id: id,
  channel_id: inbound.channel.id,
  channel_type: inbound.channel.type,
  from: inbound.from,
  profile_name: inbound.profile_name,
  type: inbound.type,
  content: inbound.content,
  received_at: at,
})

const recordReceived = (
  platform: Platform,
  tx: Db,
  fresh: readonly Identified[],
  rows: readonly MessageRow[],
  at: string,
): Promise<void> =>
  recordEvents(
    tx,
    rows.map((row, index) => ({
      id: platform.ids('evt'),
      account_id: fresh[index]!.inbound.account_id,
      mode: row.mode,
      type: 'message.received' as const,
      object_id: row.id,
      object: messageObject(row),
      created_at: at,
    })),
  )

async function onlyNew(tx: Db, messages: readonly Identified[], at: string): Promise<Identified[]> {
  const named = messages.flatMap(({ inbound: { account_id, channel, provider_id }, id }) =>
    provider_id === null ? [] : [{ account_id, channel_id: channel.id, provider_id, message_id: id, created_at: at }],
  )
  const inserted = await insertReferences(tx, named)
  return messages.filter(({ inbound, id }) => inbound.provider_id === null || inserted.has(id))
}

function rowOf(inbound: NewInbound, id: string, at: string, contact_id: string | null): MessageRow {
  const sms = smsOf(inbound)
  return {
    account_id: inbound.account_id,
    mode: inbound.mode,
    id,
    channel_id: inbound.channel.id,
    channel_type: inbound.channel.type,
    direction: 'inbound',
    to: inbound.channel.identifier,
    from: inbound.from,
    type: inbound.type,
    content: inbound.content,
    status: 'received',
    error: null,
    reference: null,
    metadata: {},
    billing_source: 'wallet',
    amount_micros: 0,
    package_grant_id: null,
    refunded: false,
    contact_id,
    origin_type: 'inbound',
    origin_id: null,
    submission_key: null,
    reply_to: inbound.reply_to,
    segments: sms?.segments ?? null,
    encoding: sms?.encoding ?? null,
    priority: 'normal',
    send_at: null,
    expires_at: null,
    created_at: at,
    updated_at: at,
    sending_at: null,
    sent_at: null,
    delivered_at: null,
    read_at: null,
    failed_at: null,
  }
}

function smsOf({ channel, type, content }: NewInbound): SmsShape | null {
  const body = type === 'text' ? (content as { body?: unknown }).body : undefined
  return channel.type === 'sms' && typeof body === 'string' ? smsEncoding(body) : null
}

/** Free of charge and in spite of the suppression. */
async function sendReplies(
  platform: Platform,
  projections: Projections,
  tx: Db,
  replies: readonly { inbound: NewInbound; row: MessageRow; text: string }[],
  at: string,
): Promise<StoredInbound['replies']> {
  if (replies.length === 0) return []
  const rows = replies.map(({ inbound, row, text }, n): PaidRow => {
    const sms = inbound.channel.type === 'sms' ? smsEncoding(text) : null
    return {
      n,
      id: platform.ids('msg'),
      account_id: inbound.account_id,
      mode: inbound.mode,
      channel_id: inbound.channel.id,
      channel_type: inbound.channel.type,
      to: inbound.from,
      from: inbound.channel.identifier,
      type: 'text',
      content: { body: text },
      reference: null,
      metadata: {},
      origin_type: 'inbound',
      origin_id: row.id,
      submission_key: null,
      reply_to: row.id,
      segments: sms?.segments ?? null,
      encoding: sms?.encoding ?? null,
      priority: 'high',
      rank: 0,
      send_at: null,
      expires_at: null,
      queue: `${inbound.account_id}:${inbound.channel.id}`,
      next_run_at: at,
      process_id: null,
      contact_id: row.contact_id,
      billing_source: 'wallet',
      amount_micros: 0,
      package_grant_id: null,
    }
  })
  await insertMessages(tx, projections, rows, at)
  return rows
}

const blocked = {
  code: 'recipient_blocked',
  message: 'The recipient opted out before the message was sent.',
  provider_code: null,
}

export const cancelForOptOut =
  (deps: TransitionDeps & Withdrawing & Pick<ConsentRecheck, 'recheck'>) =>
  async (sql: Db, events: readonly ConsentEvent[]): Promise<void> => {
    for (const { account_id } of events) deps.recheck(account_id)
    const recipients = events.flatMap(({ account_id, mode, channel_type, address }) =>
      recipientsOf(addressKeyOf(channel_type, address)).map((to) => ({ account_id, mode, channel_type, to })),
    )
    const waiting = await listWaiting(sql, recipients)
    const beingSent = deps.withdraw(waiting.map(({ id }) => id))
    const at = isoTime(deps.platform.clock.now())
    const cancelled = await applyTransitions(
      deps,
      sql,
      waiting
        .filter(({ id }) => !beingSent.has(id))
        .map(({ account_id, mode, id }) => ({
          account_id,
          mode,
          message_id: id,
          transition: 'cancel' as const,
          at,
          error: blocked,
        })),
    )
    await endJobs(sql, [...cancelled.keys()])
  }

export async function withTappedButton(
  tx: Db,
  tenant: Tenant,
  { type, content, button_index }: Pick<InboundMessage, 'type' | 'content' | 'button_index'>,
  answered_id: string | null,
): Promise<unknown> {
  if (type !== 'button_reply' || button_index === undefined || answered_id === null) return content
  const answered = await findMessage(tx, tenant, answered_id)
  const sent = answered?.content as
    | {
        readonly action?: {
          readonly buttons?: readonly { readonly reply?: { readonly id: string; readonly title: string } }[]
        }
      }
    | undefined
  const reply = sent?.action?.buttons?.[button_index]?.reply
  return reply === undefined ? content : { ...(content as object), id: reply.id, title: reply.title }
}
