/** HTTP operations of contact exports (behaviour: imports 5; contacts 7). */
import { Type } from 'typebox'
import { ContactExport } from '../../../api/resources/contact-export.ts'
import { reply, route, type Route } from '../../../platform/http/route.ts'
import type { ExportService } from './service.ts'
import { contactFilters } from '../routes.ts'

const tag = 'Contacts'

export const exportRoutes = (exporting: ExportService): Route[] => [
  route({
    operation: 'contacts.export',
    method: 'GET',
    path: '/v1/contacts/export',
    scope: 'contacts:read',
    tag,
    summary: 'Export contacts as CSV',
    description:
      'Streams every contact that fits the filters, which are those of the list. One column for each attribute, consent and identifier that is in use. An import reads the file back. ' +
      'Cells that a spreadsheet would run as a formula start with an apostrophe; E.164 phone numbers do not.',
    query: Type.Object(contactFilters, { additionalProperties: false }),
    replies: { 200: 'text/csv; charset=utf-8' },
    errors: ['upstream_unavailable'],
    handler: async ({ caller, query, signal }) =>
      reply(200, await exporting.csv(caller, query, signal), {
        'content-disposition': 'attachment; filename="contacts.csv"',
      }),
  }),
  route({
    operation: 'contacts.export_data',
    method: 'GET',
    path: '/v1/contacts/{id}/export',
    scope: 'contacts:read',
    tag,
    summary: 'Export the whole record of a contact',
    description:
      'Everything stored about the contact, to answer a data subject request: the contact, every change of its consent, its lists, and rejected rows of imports.',
    expensive: { narrow: 'Try again later.' },
    replies: { 200: ContactExport },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => reply(200, await exporting.record(sql, caller, params['id']!)),
  }),
]
