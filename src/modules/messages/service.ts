/** What messages mean: sending alone and in batches, reading, cancelling, and what recipients write. */
import type { Caller, Tenant } from '../../api/caller.ts'
import type { MessageHistoryItem } from '../../api/resources/message.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { Page } from '../../platform/http/paging.ts'
import type { Platform } from '../../platform/platform.ts'
import type { BillingService } from '../billing/service.ts'
import type { ChannelService } from '../channels/service.ts'
import type { ContactService } from '../contacts/service.ts'
import type { MediaService } from '../media/service.ts'
import { sendBatch, type SentBatch } from './accept/batches.ts'
import { cancelMessage, withdrawMessages } from './cancellation.ts'
import { isoTime } from '../../lib/clock.ts'
import { listPauses, type PauseRow } from './dispatch/channels-repository.ts'
import type { Withdrawing } from './dispatch/in-progress.ts'
import { type InboundRequest, simulateInbound } from './inbound/simulation.ts'

import type { CheckedMessage } from './accept/row.ts'
import type { Ingest } from './accept/group-commit.ts'
import type { QueueLimit } from './accept/queue-limit.ts'
import type { ItemOutcome, Submission } from './accept/submission.ts'
import { countDays, type DayCounts } from './counts-repository.ts'
import type { MessageFilters } from './list-repository.ts'
import { attemptsOfMessage, getMessage, historyOfMessage, pageOfMessages } from './queries.ts'
import { checkMessage, type RequestKey, requestKeys, sendMade, sendMessage, type Sent } from './accept/requests.ts'
import type { AttemptRow, MessageRow } from './message.ts'
import { findMessages } from './repository.ts'
import type { Projections } from './projections.ts'

export type { CheckedMessage } from './accept/row.ts'
export type { ItemOutcome, Submission, SubmissionItem } from './accept/submission.ts'
export type { MissedRow, ProducerFragment } from './accept/producers.ts'
export type { SendTimes } from './dispatch/job.ts'
export type { Projection, TransitionRow } from './projections.ts'
export { unfoldedChargesOf, unfoldedOf } from './projections-repository.ts'
export {
  type Charged,
  countReached,
  findMessages,
  keptFrom,
  listInbound,
  messagesOfOrigin,
  reachedAmong,
  reachedRecipients,
  type ReachWindow,
  sumCharged,
} from './repository.ts'
export { sendErrors, type RequestKey, type Sent } from './accept/requests.ts'
export { acceptedObject, messageObject, rankOf, stamps } from './message.ts'
export { recipientFailures } from './accept/validate.ts'
export { hasTags, render } from './merge-tags/rendering.ts'
export { contactTagNames, isVariableTag, mergeValues, tagsOf, type MergeValues } from './merge-tags/tags.ts'
export { requireTemplate } from './merge-tags/saved-message.ts'
export {
  ignoredOfMessage,
  keptMessage,
  messageFailures,
  tooLarge,
  type TaggedMessage,
} from './merge-tags/saved-message.ts'

export interface MessageDeps extends Withdrawing {
  readonly platform: Platform
  readonly channels: ChannelService
  readonly contacts: ContactService
  readonly media: MediaService
  readonly billing: BillingService
  readonly ingest: Ingest
  readonly queues: QueueLimit
  readonly projections: Projections
}

/** Everything throws the Problem that refuses it; rows are of the caller's account and mode. */
export interface MessageService {
  /** Checks what is to be sent, as the body of `POST /v1/messages`, for whom it is sent; throws the Problem that refuses it. Consent, window and funds are looked at when it is accepted. */
  check(tenant: Tenant, written: unknown): Promise<CheckedMessage>
  /** The one way to a message, for everybody who sends (docs/decisions/producers.md). One outcome an item, in their order. */
  submit(submission: Submission): Promise<readonly ItemOutcome[]>
  /** Under an Idempotency-Key the message is sent once, and answered again. */
  send(caller: Caller, body: unknown, key: string | undefined): Promise<Sent>
  /** As `send`, of a body that `make` resolves to, for an operation of another feature: its key is the operation's own. */
  sendMade(caller: Caller, asked: RequestKey | undefined, make: () => Promise<unknown>): Promise<Sent>
  /** Every item is accepted or refused by itself. */
  sendBatch(caller: Caller, body: unknown, key: string | undefined): Promise<SentBatch>
  get(sql: Db, tenant: Tenant, id: string): Promise<MessageRow>
  /** Up to `limit + 1` rows, newest first. */
  list(sql: Db, tenant: Tenant, filters: MessageFilters, page: Page): Promise<MessageRow[]>
  /** Those with these ids, in any order. */
  rows(sql: Db, tenant: Tenant, ids: readonly string[]): Promise<MessageRow[]>
  /** By the day of their creation in a time zone: `days` days until today, the oldest first. */
  days(sql: Db, tenant: Tenant, timezone: string, days: number): Promise<DayCounts[]>
  /** Newest first. */
  history(sql: Db, tenant: Tenant, id: string): Promise<MessageHistoryItem[]>
  /** Newest first. */
  attempts(sql: Db, tenant: Tenant, id: string): Promise<AttemptRow[]>
  /** Only while `queued`; resolves to the row as it is then. */
  cancel(sql: Db, tenant: Tenant, id: string): Promise<MessageRow>
  /** Fails and refunds those that were not handed over, in the transaction of their producer, who locks its own rows before; resolves to their ids. */
  withdraw(tx: Db, tenant: Tenant, ids: readonly string[]): Promise<ReadonlySet<string>>
  /** The account's channels that their providers throttle at this time, for operators. */
  pauses(sql: Db, tenant: Tenant): Promise<PauseRow[]>
  /** What a recipient would write, on a sandbox channel. */
  simulateInbound(sql: Db, tenant: Tenant, body: InboundRequest): Promise<MessageRow>
}

export function messageService(deps: MessageDeps): MessageService {
  const sending = { ...deps, keys: requestKeys(deps.platform) }
  return {
    check: (tenant, written) => checkMessage(deps, tenant, written),
    submit: async (submission) => await deps.ingest.submit(submission),
    send: (caller, body, key) => sendMessage(sending, caller, body, key),
    sendMade: (caller, asked, make) => sendMade(sending, caller, asked, make),
    sendBatch: (caller, body, key) => sendBatch(sending, caller, body, key),
    get: async (sql, tenant, id) => readable(deps.media, tenant, await getMessage(sql, tenant, id)),
    list: async (sql, tenant, filters, page) =>
      (await pageOfMessages(sql, tenant, filters, page)).map((row) => readable(deps.media, tenant, row)),
    rows: async (sql, tenant, ids) =>
      (await findMessages(sql, tenant, ids)).map((row) => readable(deps.media, tenant, row)),
    days: (sql, tenant, timezone, days) => countDays(sql, tenant, timezone, isoTime(deps.platform.clock.now()), days),
    history: historyOfMessage,
    attempts: attemptsOfMessage,
    cancel: (sql, tenant, id) => cancelMessage(deps, sql, tenant, id),
    withdraw: (tx, tenant, ids) => withdrawMessages(deps, tx, tenant, ids),
    pauses: (sql, tenant) => listPauses(sql, tenant, isoTime(deps.platform.clock.now())),
    simulateInbound: (sql, tenant, body) => simulateInbound(deps, sql, tenant, body),
  }
}

/** A message that came in, with addresses of its files that are good from now on. */
const readable = (media: MediaService, tenant: Tenant, row: MessageRow): MessageRow =>
  row.direction === 'inbound' && row.type === 'attachments'
    ? { ...row, content: media.refreshed(tenant, row.content) }
    : row
