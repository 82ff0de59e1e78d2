/** The operations on messages. */
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
import { checkMessage, type RequestKey, requestKeys, sendBuilt, sendMessage, type Sent } from './accept/requests.ts'
import type { AttemptRow, MessageRow } from './message.ts'
import { findMessages } from './repository.ts'
import type { Projections } from './projections.ts'

export type { CheckedMessage } from './accept/row.ts'
export type { ItemOutcome, Submission, SubmissionItem } from './accept/submission.ts'
export type { MissedRow, ProducerFragment } from './accept/producers.ts'
export type { SendTimes } from './dispatch/job.ts'
export type { Projection, TransitionRow } from './projections.ts'
export { pendingCharges, pendingTransitions } from './projections-repository.ts'
export {
  type Charged,
  countReached,
  findMessages,
  deletedBefore,
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
  typeAndContent,
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

/** Operations throw the Problem that refuses them. */
export interface MessageService {
  /** Consent, window and balance are checked again on acceptance. */
  check(tenant: Tenant, written: unknown): Promise<CheckedMessage>
  /** The one way to create outbound messages (docs/decisions/producers.md). One outcome per item, in order. */
  submit(submission: Submission): Promise<readonly ItemOutcome[]>
  send(caller: Caller, body: unknown, key: string | undefined): Promise<Sent>
  /** `build` resolves to the body. */
  sendBuilt(caller: Caller, requestKey: RequestKey | undefined, build: () => Promise<unknown>): Promise<Sent>
  /** `onChecked` is called once the body needs no more checks. */
  sendBatch(caller: Caller, body: unknown, key: string | undefined, onChecked: () => void): Promise<SentBatch>
  get(sql: Db, tenant: Tenant, id: string): Promise<MessageRow>
  /** Up to `limit + 1` rows, newest first. */
  list(sql: Db, tenant: Tenant, filters: MessageFilters, page: Page): Promise<MessageRow[]>
  /** In any order. */
  rows(sql: Db, tenant: Tenant, ids: readonly string[]): Promise<MessageRow[]>
  /** By day of creation, up to today, oldest first. */
  days(sql: Db, tenant: Tenant, timezone: string, days: number): Promise<DayCounts[]>
  history(sql: Db, tenant: Tenant, id: string): Promise<MessageHistoryItem[]>
  attempts(sql: Db, tenant: Tenant, id: string): Promise<AttemptRow[]>
  /** Only while `queued`. */
  cancel(sql: Db, tenant: Tenant, id: string): Promise<MessageRow>
  /** The caller has locked its own rows. Resolves to the ids of the withdrawn ones. */
  withdraw(tx: Db, tenant: Tenant, ids: readonly string[]): Promise<ReadonlySet<string>>
  pauses(sql: Db, tenant: Tenant): Promise<PauseRow[]>
  /** Only on sandbox channels. */
  simulateInbound(sql: Db, tenant: Tenant, body: InboundRequest): Promise<MessageRow>
}

export function messageService(deps: MessageDeps): MessageService {
  const sending = { ...deps, keys: requestKeys(deps.platform) }
  return {
    check: (tenant, written) => checkMessage(deps, tenant, written),
    submit: async (submission) => await deps.ingest.submit(submission),
    send: (caller, body, key) => sendMessage(sending, caller, body, key),
    sendBuilt: (caller, requestKey, build) => sendBuilt(sending, caller, requestKey, build),
    sendBatch: (caller, body, key, onChecked) => sendBatch(sending, caller, body, key, onChecked),
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

/** Inbound attachments get fresh links. */
const readable = (media: MediaService, tenant: Tenant, row: MessageRow): MessageRow =>
  row.direction === 'inbound' && row.type === 'attachments'
    ? { ...row, content: media.refreshed(tenant, row.content) }
    : row
