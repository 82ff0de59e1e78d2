/** HTTP operations of contact imports (behaviour: imports 1, 4). */
import { Type, type Static } from 'typebox'
import {
  ContactImport,
  importLimits,
  importStatuses,
  type ImportStatus,
} from '../../../api/resources/contact-import.ts'
import { listOf, listQuery, pageOf, pageReply } from '../../../platform/http/paging.ts'
import { reply, route, type Route } from '../../../platform/http/route.ts'
import type { ImportService } from './service.ts'
import type { UploadOptions } from './upload-reader.ts'

const tag = 'Contact imports'
const retentionDays = importLimits.errors_kept_ms / 86_400_000

const uploadQuery = Type.Object(
  {
    consent_declared: Type.Optional(
      Type.String({
        enum: ['true', 'false'],
        description: 'You hold the consent of everybody in the file to be contacted. Required to be `true`.',
      }),
    ),
    default_country: Type.Optional(
      Type.String({
        description:
          'ISO 3166 alpha-2: how to read phone numbers without a country code. Without it they are rejected.',
        examples: ['DE'],
      }),
    ),
    columns: Type.Optional(
      Type.String({
        description:
          'A JSON object of headers and the fields that they are, or null for columns to leave out, for headers that are not understood by themselves.',
        examples: ['{"Shoe size":"attributes.shoe_size","Notes":null}'],
      }),
    ),
    file_name: Type.Optional(
      Type.String({ maxLength: 255, description: 'Shown on the import; a form brings its own.' }),
    ),
  },
  { additionalProperties: false },
)

const uploadForm = Type.Object(
  {
    consent_declared: uploadQuery.properties.consent_declared,
    default_country: uploadQuery.properties.default_country,
    columns: uploadQuery.properties.columns,
    file: Type.String({
      contentMediaType: 'text/csv',
      description: 'The file. Fields other than `consent_declared` stand before it.',
    }),
  },
  { additionalProperties: false },
)

const optionsOf = ({
  consent_declared,
  default_country,
  columns,
  file_name,
}: Static<typeof uploadQuery>): UploadOptions => ({
  consent_declared,
  default_country,
  columns,
  file_name,
})

const createContactImportRoute = (imports: ImportService): Route =>
  route({
    operation: 'contact_imports.create',
    method: 'POST',
    path: '/v1/contact_imports',
    scope: 'contacts:write',
    tag,
    summary: 'Import contacts from a CSV file',
    description:
      'The body is the file itself (`Content-Type: text/csv`), or a form (`multipart/form-data`) with the file in the field `file` and the parameters in the query or in fields before it. UTF-8, with or without BOM; ' +
      'comma, semicolon or tab, or what a line `sep=;` before the header names. The first row names the columns: contact fields, `attributes.<key>`, `consent.<channel type>`, `identifiers.<channel type>`, `tags` with `;` between; common spellings are understood, an unknown column is refused. ' +
      'Rows create contacts or update them, found by phone number, else by identifier, else by e-mail address; an empty cell changes nothing, tags are added. An opt-out is never undone. ' +
      'A file that is no CSV is refused as a whole. Rows are applied in the background: read the import to see how far it is.',
    query: uploadQuery,
    streamed: true,
    uploads: {
      'text/csv': {
        schema: Type.String({ description: 'The file itself.' }),
        example: 'phone,first_name,tags,consent.sms\n+4915112345678,Ada,vip;news,opted_in\n',
      },
      'multipart/form-data': { schema: uploadForm },
    },
    example_query: 'consent_declared=true',
    replies: { 202: ContactImport },
    errors: ['parameter_missing', 'consent_required', 'payload_too_large', 'invalid_json'],
    digestOf: ({ query, raw }) => imports.digest(raw, optionsOf(query)),
    handler: async ({ caller, query, raw, sql, keep }) => await imports.start(sql, caller, raw, optionsOf(query), keep),
  })

const listContactImportsRoute = (imports: ImportService): Route =>
  route({
    operation: 'contact_imports.list',
    method: 'GET',
    path: '/v1/contact_imports',
    scope: 'contacts:read',
    tag,
    summary: 'List contact imports',
    description: 'Newest first, with the counts of each so far.',
    query: listQuery({
      status: Type.Optional(
        Type.Unsafe<ImportStatus>({ type: 'string', enum: [...importStatuses], description: 'With this status now.' }),
      ),
    }),
    replies: { 200: listOf(ContactImport) },
    errors: [],
    handler: async ({ caller, query, sql }) => {
      const page = pageOf(query)
      return reply(200, pageReply(await imports.list(sql, caller, query.status, page), page.limit))
    },
  })

const retrieveContactImportRoute = (imports: ImportService): Route =>
  route({
    operation: 'contact_imports.retrieve',
    method: 'GET',
    path: '/v1/contact_imports/{id}',
    scope: 'contacts:read',
    tag,
    summary: 'Retrieve a contact import',
    description: 'Its counters move while it runs.',
    replies: { 200: ContactImport },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => reply(200, await imports.get(sql, caller, params['id']!)),
  })

const listContactImportErrorsRoute = (imports: ImportService): Route =>
  route({
    operation: 'contact_imports.list_errors',
    method: 'GET',
    path: '/v1/contact_imports/{id}/errors',
    scope: 'contacts:read',
    tag,
    summary: 'Download the rejected rows of a contact import',
    description: `A CSV with the columns of the file, \`import_row\` (the header is row 1), \`import_result\` and \`import_reason\`; correct it and import it as it is. Stored for ${retentionDays} days. Includes rows that were applied without some of their cells.`,
    replies: { 200: 'text/csv; charset=utf-8' },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => {
      const lines = await imports.errors(sql, caller, params['id']!)
      return reply(200, lines, { 'content-disposition': `attachment; filename="${params['id']!}-errors.csv"` })
    },
  })

export const importRoutes = (imports: ImportService): Route[] => [
  createContactImportRoute(imports),
  listContactImportsRoute(imports),
  retrieveContactImportRoute(imports),
  listContactImportErrorsRoute(imports),
]
