/** Imports of contacts from CSV files (behaviour: imports 4). */
import { Type, type Static } from 'typebox'
import { Mode, objectName } from './shared-fields.ts'
import { NullableObject, NullableString, NullableTimestamp, Timestamp } from './nullable.ts'

export const importStatuses = ['pending', 'running', 'completed', 'failed'] as const
export type ImportStatus = (typeof importStatuses)[number]

export const importLimits = {
  columns_max: 500,
  record_length_max: 1024 * 1024,
  errors_kept_ms: 30 * 24 * 3600_000,
} as const

export const ContactImport = Type.Object(
  {
    id: Type.String({ description: 'Prefix `imp_`.' }),
    object: objectName('contact_import'),
    mode: Mode,
    status: Type.String({ enum: [...importStatuses], description: '`pending` until the first rows are applied.' }),
    file_name: NullableString({ description: 'As it was sent; null where none was.' }),
    columns: Type.Array(
      Type.Object({
        name: Type.String({ description: 'The header of the column.' }),
        field: NullableString({ description: 'The field that it is; null where it is left out.' }),
      }),
      { description: 'The columns of the file, from left to right, and their mapping.' },
    ),
    default_country: NullableString({
      description: 'ISO 3166 alpha-2: how phone numbers without a country code are read.',
    }),
    consent_declared: Type.Boolean({
      description: 'Whether it was declared that the people in it have agreed to be contacted.',
    }),
    bytes: Type.Integer({ description: 'Size of the file.' }),
    total: Type.Integer({ description: 'Rows of the file, the header and blank rows not counted.' }),
    processed: Type.Integer({
      description: 'Rows dealt with until now: `created`, `updated` and `rejected` together.',
    }),
    created: Type.Integer({ description: 'Rows that created a contact.' }),
    updated: Type.Integer({ description: 'Rows whose contact existed before, changed or not.' }),
    rejected: Type.Integer({
      description: 'Rows that changed nothing; GET /v1/contact_imports/{id}/errors gives them back with reasons.',
    }),
    warnings: Type.Integer({
      description:
        'Rows applied without some of their cells, such as an `opted_in` for a contact that opted out; they are listed among the errors, too.',
    }),
    error: NullableObject({ description: 'Why the import failed: {`code`, `message`}; else null.' }),
    created_at: Timestamp(),
    updated_at: Timestamp(),
    started_at: NullableTimestamp(),
    completed_at: NullableTimestamp(),
  },
  { $id: 'ContactImport', description: 'An import of contacts from a CSV file.' },
)
export type ContactImport = Static<typeof ContactImport>
