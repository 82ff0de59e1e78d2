/** The operations of contacts for other modules and routes. */
import type { Caller, Tenant } from '../../api/caller.ts'
import type { InboundEvent } from '../../api/domain-events.ts'
import type { Detail } from '../../api/errors.ts'
import type { Contact } from '../../api/resources/contact.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Db, Transaction } from '../../platform/database/sql.ts'
import type { Page } from '../../platform/http/paging.ts'
import type { PeriodicJob, Platform } from '../../platform/platform.ts'
import { audienceRows, chunkEnd, type AudienceSource } from './audience-repository.ts'
import { activity } from './activity.ts'
import { sanitizeContact, readContact, type ContactBody, type OptionalBody } from './contact-input.ts'
import { foldCounters } from './counter-repository.ts'
import {
  type ContactQuery,
  consentHistory,
  getContact,
  listContacts,
  readerOf,
  contactObjects,
  type ContactReader,
} from './contact-queries.ts'
import { inboundReceiver, type Received } from './consent/inbound-messages.ts'
import { receiveProviderConsent, type ProviderConsent } from './consent/provider-consent.ts'
import { addressKeyOf } from './addresses.ts'
import { listService } from './lists/service.ts'
import * as repository from './repository.ts'
import { tagLabel, type ContactChange, type ContactRow } from './contact.ts'
import { withConflictRetries } from './contact-locks.ts'
import { optOutsBy } from './consent/repository.ts'
import type { SaveContext, SaveItem, SaveResult } from './save-item.ts'
import { saveContacts } from './contact-writer.ts'
import { segmentService } from './segments/service.ts'
import { previewUpsert, syncContacts } from './contact-sync.ts'
import { listAttributes, listTags, tagContacts, type TaggingBody } from './tags.ts'
import { createContact, removeContact, updateContact, upsertContact } from './contact-commands.ts'

export type { AudienceQuery, AudienceSource } from './audience-repository.ts'
export type { ContactRow } from './contact.ts'
export { eligibilityOf, findEligibility, type Ineligible, type RecipientKey } from './consent/eligibility-repository.ts'
export { fullName } from './contact.ts'
export { csvStream, pageWaitMs, type CsvColumn, type CsvPage } from './csv.ts'
export { readTags } from './contact-input.ts'
export { addressKeyOf, recipientsOf, suppressionHash, type AddressKey } from './addresses.ts'
export { windowUntil, type Received } from './consent/inbound-messages.ts'
export type { ProviderConsent } from './consent/provider-consent.ts'
export { foldText, hasStopped, marketingType, type ContactChange } from './contact.ts'
export { comparedValues, fits } from './segments/evaluator.ts'
export { phoneText, type Field, type Fields } from './segments/fields.ts'
export { comparableTime } from './segments/fields.ts'
export { isGroup, parseRules, rulesFailures, type Condition, type Group, type Scalar } from './segments/rules.ts'
export { WriteConflict } from './contact-locks.ts'
export type { SaveContext, SaveItem, SaveResult } from './save-item.ts'

export type ContactService = ReturnType<typeof contactService>

const queries = (platform: Platform) => ({
  get: (sql: Db, tenant: Tenant, id: string): Promise<Contact> => getContact(platform, sql, tenant, id),
  list: (sql: Db, tenant: Tenant, query: ContactQuery, page: Page): Promise<Contact[]> =>
    listContacts(platform, sql, tenant, query, page),
  reader: (sql: Db, tenant: Tenant, query: ContactQuery): Promise<ContactReader> =>
    readerOf(platform, sql, tenant, query),
  contactObjects: (sql: Db, tenant: Tenant, rows: readonly ContactRow[]): Promise<Contact[]> =>
    contactObjects(platform, sql, tenant, rows),
  consentHistory,
  optOutsBy,

  findByIds: repository.findContacts,
  async findByAddress(sql: Db, tenant: Tenant, channel_type: string, to: string): Promise<ContactRow | undefined> {
    const [found] = await repository.findAddresses(sql, tenant, [addressKeyOf(channel_type, to)])
    return found === undefined ? undefined : (await repository.findContacts(sql, tenant, [found.contact_id]))[0]
  },
  /** By phone key (`phoneKey`). */
  findByPhones: (sql: Db, tenant: Tenant, keys: readonly string[]): Promise<Map<string, ContactRow>> =>
    repository.findOwners(sql, tenant, 'phone', keys),
})

const audiences = {
  audienceRows,
  chunkEnd,
  tagAudience: (tags: readonly string[], match: 'any' | 'all'): AudienceSource => ({
    kind: 'labels',
    labels: tags.map(tagLabel),
    match,
  }),
  definedAttributes: repository.definedAttributes,
  /** Counted up to `most`. */
  countTagged: (
    sql: Db,
    tenant: Tenant,
    tags: readonly string[],
    match: 'any' | 'all',
    most: number,
  ): Promise<number> => repository.countLabelled(sql, tenant, tags.map(tagLabel), match, most),
}

const foldKeys = 200

export function contactService(platform: Platform) {
  const lists = listService(platform)
  const active = activity(platform)
  const receiveInbound: (tx: Db, messages: readonly InboundEvent[]) => Promise<Received[]> = inboundReceiver(platform)
  const folding: PeriodicJob = {
    name: 'fold-contact-counters',
    every_ms: 1000,
    run: () => foldCounters(platform.pool, foldKeys),
  }
  return {
    lists,
    segments: segmentService(platform),
    periodicJobs: [folding, ...lists.periodicJobs],
    /** In the transaction that stores the messages. One result per message, in order. Publishes `opted_out`. */
    receiveInbound,
    receiveProviderConsent: (tx: Db, reports: readonly ProviderConsent[]): Promise<void> =>
      receiveProviderConsent(platform, tx, reports),
    messagesAccepted: active.messagesAccepted,
    flushActivity: active.flush,

    failuresOf: (body: ContactBody): readonly Detail[] =>
      readContact(body, { at: isoTime(platform.clock.now()) }).failures,
    /** For sources that cannot correct a body. Tags are added. */
    sanitize: (body: OptionalBody, at: string): ContactChange => sanitizeContact(body, { at, add_tags: true }),
    create: (sql: Db, caller: Caller, body: ContactBody): Promise<Contact> =>
      createContact(platform, sql, caller, body),
    /** Finds the contact by `phone`. Tags are added. */
    upsert: (sql: Db, caller: Caller, body: ContactBody): Promise<{ created: boolean; contact: Contact }> =>
      upsertContact(platform, sql, caller, body),
    update: (sql: Db, caller: Caller, id: string, body: ContactBody): Promise<Contact> =>
      updateContact(platform, sql, caller, id, body),
    remove: (sql: Db, tenant: Tenant, id: string): Promise<void> => removeContact(platform, sql, tenant, id),
    save: (sql: Db, tenant: Tenant, items: readonly SaveItem[], context: SaveContext): Promise<SaveResult[]> =>
      withConflictRetries(sql, (tx) => saveContacts(platform, tx, tenant, items, context)),
    /** `owners`: from `findByPhones` in the same transaction. The caller retries after `WriteConflict`. */
    sync: (
      tx: Transaction,
      tenant: Tenant,
      items: readonly SaveItem[],
      context: SaveContext,
      owners: ReadonlyMap<string, ContactRow>,
    ): Promise<SaveResult[]> => syncContacts(platform, tx, tenant, items, context, owners),
    previewUpsert: (sql: Db, tenant: Tenant, change: ContactChange, context: SaveContext): Promise<ContactRow | null> =>
      previewUpsert(platform, sql, tenant, change, context),

    ...queries(platform),

    tag: (sql: Db, caller: Caller, body: TaggingBody) => tagContacts(platform, sql, caller, body),
    tags: listTags,
    attributes: listAttributes,
    ...audiences,
  }
}
