/** HTTP operations of contact lists (behaviour: contacts 6). */
import {
  ContactList,
  ContactListCreation,
  ContactListDeleted,
  ContactListMembersAdded,
  ContactListMembership,
  ContactListMembersRemoved,
  ContactListUpdate,
} from '../../../api/resources/contact.ts'
import { listOf, listQuery, pageOf, pageReply } from '../../../platform/http/paging.ts'
import { reply, route, type Route } from '../../../platform/http/route.ts'
import { listFailures, type ListBody, type ListService } from './service.ts'

const tag = 'Contact lists'

const createContactListRoute = (lists: ListService): Route =>
  route({
    operation: 'contact_lists.create',
    method: 'POST',
    path: '/v1/contact_lists',
    scope: 'contacts:write',
    tag,
    summary: 'Create a contact list',
    description: 'An empty list. Contacts are added with `POST /v1/contact_lists/{id}/members`.',
    body: ContactListCreation,
    inspect: listFailures,
    replies: { 201: ContactList },
    errors: [],
    handler: async ({ caller, body, sql }) => reply(201, await lists.create(sql, caller, body as ListBody)),
  })

const listContactListsRoute = (lists: ListService): Route =>
  route({
    operation: 'contact_lists.list',
    method: 'GET',
    path: '/v1/contact_lists',
    scope: 'contacts:read',
    tag,
    summary: 'List contact lists',
    description: 'Newest first, each with the number of its members.',
    query: listQuery({}),
    replies: { 200: listOf(ContactList) },
    errors: [],
    handler: async ({ caller, query, sql }) => {
      const page = pageOf(query)
      return reply(200, pageReply(await lists.list(sql, caller, page), page.limit))
    },
  })

const retrieveContactListRoute = (lists: ListService): Route =>
  route({
    operation: 'contact_lists.retrieve',
    method: 'GET',
    path: '/v1/contact_lists/{id}',
    scope: 'contacts:read',
    tag,
    summary: 'Retrieve a contact list',
    description: 'The list and the number of its members. `GET /v1/contacts?list={id}` returns the members.',
    replies: { 200: ContactList },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => reply(200, await lists.get(sql, caller, params['id']!)),
  })

const updateContactListRoute = (lists: ListService): Route =>
  route({
    operation: 'contact_lists.update',
    method: 'PATCH',
    path: '/v1/contact_lists/{id}',
    scope: 'contacts:write',
    tag,
    summary: 'Update a contact list',
    description: 'Absent fields stay; `metadata` is replaced whole.',
    body: ContactListUpdate,
    inspect: listFailures,
    replies: { 200: ContactList },
    errors: ['resource_missing'],
    handler: async ({ caller, params, body, sql }) =>
      reply(200, await lists.update(sql, caller, params['id']!, body as ListBody)),
  })

const deleteContactListRoute = (lists: ListService): Route =>
  route({
    operation: 'contact_lists.delete',
    method: 'DELETE',
    path: '/v1/contact_lists/{id}',
    scope: 'contacts:write',
    tag,
    summary: 'Delete a contact list',
    description: 'Its contacts stay.',
    replies: { 200: ContactListDeleted },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => {
      await lists.remove(sql, caller, params['id']!)
      return reply(200, { id: params['id']!, object: 'contact_list', deleted: true })
    },
  })

const addContactListMembersRoute = (lists: ListService): Route =>
  route({
    operation: 'contact_lists.add_members',
    method: 'POST',
    path: '/v1/contact_lists/{id}/members',
    scope: 'contacts:write',
    tag,
    summary: 'Add contacts to a list',
    description: 'Reports contacts that are members already or do not exist; they cause no error.',
    body: ContactListMembership,
    replies: { 200: ContactListMembersAdded },
    errors: ['resource_missing'],
    handler: async ({ caller, params, body, sql }) =>
      reply(200, await lists.addMembers(sql, caller, params['id']!, body.contacts)),
  })

const removeContactListMembersRoute = (lists: ListService): Route =>
  route({
    operation: 'contact_lists.remove_members',
    method: 'POST',
    path: '/v1/contact_lists/{id}/members/remove',
    scope: 'contacts:write',
    tag,
    summary: 'Remove contacts from a list',
    description: 'The contacts themselves stay. Ids that are no members are counted in `not_members`, not refused.',
    body: ContactListMembership,
    replies: { 200: ContactListMembersRemoved },
    errors: ['resource_missing'],
    handler: async ({ caller, params, body, sql }) =>
      reply(200, await lists.removeMembers(sql, caller, params['id']!, body.contacts)),
  })

export const listRoutes = (lists: ListService): Route[] => [
  createContactListRoute(lists),
  listContactListsRoute(lists),
  retrieveContactListRoute(lists),
  updateContactListRoute(lists),
  deleteContactListRoute(lists),
  addContactListMembersRoute(lists),
  removeContactListMembersRoute(lists),
]
