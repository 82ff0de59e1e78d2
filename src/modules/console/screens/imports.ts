/** Imports of contacts in steps (behaviour: console 7.5). */
import { Type } from 'typebox'
import { draftLimits, ImportChange, StepwiseImport } from '../../../api/resources/stepwise-import.ts'
import { reply } from '../../../platform/http/route.ts'
import { consoleRoute, type ConsoleRoute, type ConsoleServices } from '../route.ts'

const retentionHours = draftLimits.kept_ms / 3600_000
const facts = { access: 'account', moded: true } as const
const change = { ...facts, permission: 'import', scope: 'contacts:write' } as const

const UploadQuery = Type.Object(
  { file_name: Type.Optional(Type.String({ maxLength: 255, description: 'Shown on the import.' })) },
  { additionalProperties: false },
)

const createImportRoute = (steps: ConsoleServices['imports']['steps']): ConsoleRoute =>
  consoleRoute({
    ...change,
    operation: 'imports.create',
    method: 'POST',
    path: '/console/api/imports',
    summary: 'Upload contacts as a draft',
    description: `The body is the CSV file itself, in UTF-8. Nothing is imported yet: map its columns, check it, then start it. A draft is deleted ${retentionHours} hours after its last change.`,
    query: UploadQuery,
    streamed: true,
    uploads: {
      'text/csv': {
        schema: Type.String({ description: 'The file itself.' }),
        example: 'phone,first_name\n+15005550006,Ada\n',
      },
    },
    replies: { 201: StepwiseImport },
    errors: ['payload_too_large', 'invalid_json'],
    digestOf: ({ query, raw }) => steps.digest(raw, query),
    refuses: ['import_file_invalid', 'import_state_invalid'],
    async handler({ caller, query, raw, sql }) {
      const { draft, digest } = await steps.upload(sql, caller, raw, query)
      return { status: 201, body: draft, digest }
    },
  })

const retrieveImportRoute = (steps: ConsoleServices['imports']['steps']): ConsoleRoute =>
  consoleRoute({
    ...facts,
    permission: 'read_imports',
    scope: 'contacts:read',
    operation: 'imports.retrieve',
    method: 'GET',
    path: '/console/api/imports/{id}',
    summary: 'Retrieve an import at any step',
    description: 'Those that were started elsewhere, too.',
    replies: { 200: StepwiseImport },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => reply(200, await steps.get(sql, caller, params['id']!)),
  })

const updateImportRoute = (steps: ConsoleServices['imports']['steps']): ConsoleRoute =>
  consoleRoute({
    ...change,
    operation: 'imports.update',
    method: 'PATCH',
    path: '/console/api/imports/{id}',
    summary: 'Map the columns and declare consent',
    description: 'Other columns or another country require a new check.',
    body: ImportChange,
    replies: { 200: StepwiseImport },
    errors: ['resource_missing'],
    refuses: ['import_state_invalid'],
    handler: async ({ caller, params, body, sql }) => reply(200, await steps.change(sql, caller, params['id']!, body)),
  })

const checkImportRoute = (steps: ConsoleServices['imports']['steps']): ConsoleRoute =>
  consoleRoute({
    ...change,
    operation: 'imports.check',
    method: 'POST',
    path: '/console/api/imports/{id}/check',
    idempotent: 'lease',
    summary: 'Count what an import would do',
    description: 'Reads the whole file as the start would, and writes no contact. May be repeated.',
    replies: { 200: StepwiseImport },
    errors: ['resource_missing', 'parameter_missing', 'parameter_invalid', 'rate_limit_exceeded'],
    refuses: ['import_state_invalid'],
    handler: async ({ caller, params, sql }) => reply(200, await steps.check(sql, caller, params['id']!)),
  })

const startImportRoute = (steps: ConsoleServices['imports']['steps']): ConsoleRoute =>
  consoleRoute({
    ...change,
    operation: 'imports.start',
    method: 'POST',
    path: '/console/api/imports/{id}/start',
    summary: 'Start a checked import',
    description: 'Its rows are applied in the background; of several starts one succeeds.',
    replies: { 200: StepwiseImport },
    errors: ['resource_missing', 'consent_required'],
    refuses: ['import_state_invalid'],
    handler: async ({ caller, params, sql }) => reply(200, await steps.start(sql, caller, params['id']!)),
  })

const cancelImportRoute = (steps: ConsoleServices['imports']['steps']): ConsoleRoute =>
  consoleRoute({
    ...change,
    operation: 'imports.cancel',
    method: 'POST',
    path: '/console/api/imports/{id}/cancel',
    summary: 'Cancel an import that is not started',
    description: 'Its file is deleted at once.',
    replies: { 200: StepwiseImport },
    errors: ['resource_missing'],
    refuses: ['import_state_invalid'],
    handler: async ({ caller, params, sql }) => reply(200, await steps.cancel(sql, caller, params['id']!)),
  })

export const importStepRoutes = ({ imports: { steps } }: ConsoleServices): ConsoleRoute[] => [
  createImportRoute(steps),
  retrieveImportRoute(steps),
  updateImportRoute(steps),
  checkImportRoute(steps),
  startImportRoute(steps),
  cancelImportRoute(steps),
]
