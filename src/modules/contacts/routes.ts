/** HTTP operations of contacts, tags, attributes and consent (behaviour: contacts 2, 3, 4, 5). */
import { Type } from 'typebox'
import { limits } from '../../api/limits.ts'
import {
  ConsentChange,
  Contact,
  ContactAttribute,
  ContactCreation,
  ContactDeleted,
  contactLimits,
  ContactTag,
  ContactTagging,
  ContactTagsResult,
  ContactUpdate,
  ContactUpsert,
} from '../../api/resources/contact.ts'
import { DateTimeQuery } from '../../api/date-time-query.ts'
import { listOf, listQuery, pageOf, pageReply } from '../../platform/http/paging.ts'
import { reply, route, type Route } from '../../platform/http/route.ts'
import type { ContactBody } from './contact-input.ts'
import type { ContactService } from './service.ts'
import type { TaggingBody } from './tags.ts'

const tag = 'Contacts'
const text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }))

export const contactFilters = {
  phone: text('Exact; any national variant of the number.'),
  email: text('Exact, without regard to case.'),
  external_id: text('Exact.'),
  tag: text('Contacts with this tag, without regard to case.'),
  list: text('Members of this contact list.'),
  segment: text('Contacts that fit this segment now.'),
  consent: text('A channel type and a status, such as `sms:opted_in`.'),
  query: text(
    'The beginning of the full name, the last name, the phone number or the e-mail address, without regard to case.',
  ),
  created_after: Type.Optional(DateTimeQuery),
  created_before: Type.Optional(DateTimeQuery),
  updated_after: Type.Optional(DateTimeQuery),
}

const namesQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.page_max,
        description: `Entries per page; without it up to ${contactLimits.vocabulary_page}.`,
      }),
    ),
    starting_after: Type.Optional(Type.String({ minLength: 1, description: '`next_cursor` of the page before.' })),
  },
  { additionalProperties: false },
)

/** The name is the cursor. */
function namesReply<T>(rows: readonly T[], limit: number, nameOf: (row: T) => string) {
  const data = rows.slice(0, limit)
  const has_more = rows.length > limit
  return { object: 'list' as const, data, has_more, next_cursor: has_more ? nameOf(data[data.length - 1]!) : null }
}

const createContactRoute = (contacts: ContactService): Route =>
  route({
    operation: 'contacts.create',
    method: 'POST',
    path: '/v1/contacts',
    scope: 'contacts:write',
    tag,
    summary: 'Create a contact',
    description:
      'One of `phone`, `email` or an identifier is required. `phone` and every identifier are unique in the account and mode. A person who opted out earlier, without a contact or as a contact deleted since, starts as `opted_out`, unless `consent` states otherwise.',
    body: ContactCreation,
    inspect: contacts.failuresOf,
    replies: { 201: Contact },
    errors: ['parameter_missing', 'contact_exists', 'contact_limit_reached'],
    handler: async ({ caller, body, sql }) => reply(201, await contacts.create(sql, caller, body as ContactBody)),
  })

const listContactsRoute = (contacts: ContactService): Route =>
  route({
    operation: 'contacts.list',
    method: 'GET',
    path: '/v1/contacts',
    scope: 'contacts:read',
    tag,
    summary: 'List contacts',
    description: 'Newest first. Filters are joined by AND; one that names nothing known gives an empty list.',
    query: listQuery(contactFilters),
    expensive: {
      when: ({ segment }) => segment !== undefined,
      narrow: 'Narrow the rules of the segment, or leave the filter `segment` out.',
    },
    replies: { 200: listOf(Contact) },
    errors: [],
    handler: async ({ caller, query, sql }) => {
      const page = pageOf(query)
      return reply(200, pageReply(await contacts.list(sql, caller, query, page), page.limit))
    },
  })

const upsertContactRoute = (contacts: ContactService): Route =>
  route({
    operation: 'contacts.upsert',
    method: 'POST',
    path: '/v1/contacts/upsert',
    scope: 'contacts:write',
    tag,
    summary: 'Create or update a contact by phone number',
    description:
      '201 when created, 200 when updated. Works as an update, except that `tags` are added. A known number keeps its spelling. An opt-out never changes unless `consent` names its channel type. Updates work at the contact cap, too.',
    body: ContactUpsert,
    inspect: contacts.failuresOf,
    replies: { 200: Contact, 201: Contact },
    errors: ['contact_exists', 'contact_limit_reached'],
    handler: async ({ caller, body, sql }) => {
      const { created, contact } = await contacts.upsert(sql, caller, body as ContactBody)
      return reply(created ? 201 : 200, contact)
    },
  })

const updateContactTagsRoute = (contacts: ContactService): Route =>
  route({
    operation: 'contacts.update_tags',
    method: 'POST',
    path: '/v1/contacts/tags',
    scope: 'contacts:write',
    tag,
    summary: 'Add and remove tags of many contacts',
    description: `Up to ${contactLimits.bulk_max} contacts, by \`contacts\` or by \`phones\`; \`remove\` comes before \`add\`. All or nothing: when one contact would have more than ${contactLimits.tags_max} tags, none changes.`,
    body: ContactTagging,
    replies: { 200: ContactTagsResult },
    errors: ['parameter_missing'],
    handler: async ({ caller, body, sql }) => reply(200, await contacts.tag(sql, caller, body as TaggingBody)),
  })

const retrieveContactRoute = (contacts: ContactService): Route =>
  route({
    operation: 'contacts.retrieve',
    method: 'GET',
    path: '/v1/contacts/{id}',
    scope: 'contacts:read',
    tag,
    summary: 'Retrieve a contact',
    description: 'With its tags, attributes and consent by channel type. A deleted contact is 404.',
    replies: { 200: Contact },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => reply(200, await contacts.get(sql, caller, params['id']!)),
  })

const updateContactRoute = (contacts: ContactService): Route =>
  route({
    operation: 'contacts.update',
    method: 'PATCH',
    path: '/v1/contacts/{id}',
    scope: 'contacts:write',
    tag,
    summary: 'Update a contact',
    description:
      '`attributes`, `identifiers` and `consent` are merged by key, null removes; `tags` and `metadata` are replaced; absent fields stay. `opted_out` takes effect at once: scheduled messages of that channel type fail with `recipient_blocked` and are refunded.',
    body: ContactUpdate,
    inspect: contacts.failuresOf,
    replies: { 200: Contact },
    errors: ['parameter_missing', 'resource_missing', 'contact_exists'],
    handler: async ({ caller, params, body, sql }) =>
      reply(200, await contacts.update(sql, caller, params['id']!, body as ContactBody)),
  })

const deleteContactRoute = (contacts: ContactService): Route =>
  route({
    operation: 'contacts.delete',
    method: 'DELETE',
    path: '/v1/contacts/{id}',
    scope: 'contacts:write',
    tag,
    summary: 'Delete a contact',
    description:
      'Deletes its data, consent history and memberships. Its opt-outs stay in force as keyed hashes; its messages keep their own record.',
    replies: { 200: ContactDeleted },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => {
      await contacts.remove(sql, caller, params['id']!)
      return reply(200, { id: params['id']!, object: 'contact', deleted: true })
    },
  })

const listContactConsentHistoryRoute = (contacts: ContactService): Route =>
  route({
    operation: 'contacts.list_consent_history',
    method: 'GET',
    path: '/v1/contacts/{id}/consent_history',
    scope: 'contacts:read',
    tag,
    summary: "List the changes of a contact's consent",
    description: 'Newest first: the proof of every opt-in and opt-out, with the message or request that caused it.',
    query: listQuery({}),
    replies: { 200: listOf(ConsentChange) },
    errors: ['resource_missing'],
    handler: async ({ caller, params, query, sql }) => {
      const page = pageOf(query)
      return reply(200, pageReply(await contacts.consentHistory(sql, caller, params['id']!, page), page.limit))
    },
  })

const listContactTagsRoute = (contacts: ContactService): Route =>
  route({
    operation: 'contact_tags.list',
    method: 'GET',
    path: '/v1/contact_tags',
    scope: 'contacts:read',
    tag,
    summary: 'List the tags of contacts',
    description: 'By name, with the spelling that was met first. A tag that no contact has any more is left out.',
    query: namesQuery,
    replies: { 200: listOf(ContactTag) },
    errors: [],
    handler: async ({ caller, query, sql }) => {
      const limit = query.limit ?? contactLimits.vocabulary_page
      return reply(
        200,
        namesReply(await contacts.tags(sql, caller, query.starting_after, limit), limit, (row) => row.name),
      )
    },
  })

const listContactAttributesRoute = (contacts: ContactService): Route =>
  route({
    operation: 'contact_attributes.list',
    method: 'GET',
    path: '/v1/contact_attributes',
    scope: 'contacts:read',
    tag,
    summary: 'List the attributes of contacts',
    description: 'By key. An attribute is defined once a contact was saved with it, and stays so.',
    query: namesQuery,
    replies: { 200: listOf(ContactAttribute) },
    errors: [],
    handler: async ({ caller, query, sql }) => {
      const limit = query.limit ?? contactLimits.vocabulary_page
      return reply(
        200,
        namesReply(await contacts.attributes(sql, caller, query.starting_after, limit), limit, (row) => row.key),
      )
    },
  })

export const contactRoutes = (contacts: ContactService): Route[] => [
  createContactRoute(contacts),
  listContactsRoute(contacts),
  upsertContactRoute(contacts),
  updateContactTagsRoute(contacts),
  retrieveContactRoute(contacts),
  updateContactRoute(contacts),
  deleteContactRoute(contacts),
  listContactConsentHistoryRoute(contacts),
  listContactTagsRoute(contacts),
  listContactAttributesRoute(contacts),
]
