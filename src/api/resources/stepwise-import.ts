/** Stepwise imports of the console (behaviour: console 7). */
import { Type, type Static } from 'typebox'
import { ContactImport, importStatuses, type ImportStatus } from './contact-import.ts'
import { NullableString } from './nullable.ts'

/** Hidden in `/v1`. */
export const draftStatuses = ['draft', 'checked', 'cancelled'] as const
export type StepStatus = (typeof draftStatuses)[number] | ImportStatus

export const draftLimits = {
  /** Since the last change. */
  kept_ms: 24 * 3600_000,
} as const

const hoursKept = draftLimits.kept_ms / 3600_000

export const StepwiseImport = Type.Object(
  {
    ...ContactImport.properties,
    status: Type.Unsafe<StepStatus>({
      type: 'string',
      enum: [...draftStatuses, ...importStatuses],
      description: `\`draft\` once the file is there, \`checked\` once its counts are known, then as of any import. What nobody starts is forgotten after ${hoursKept} hours.`,
    }),
    columns: Type.Array(
      Type.Object({
        name: Type.String({ description: 'The header of the column.' }),
        field: NullableString({ description: 'The field that it is; null where it is left out, or not understood.' }),
        understood: Type.Boolean({
          description: 'False where its name does not tell what it is: say so before the check.',
        }),
      }),
      { description: 'The columns of the file, from left to right, and their mapping.' },
    ),
    processed: Type.Integer({ description: 'Rows dealt with until now; 0 until it is started.' }),
    created: Type.Integer({ description: 'Rows that created a contact; if `checked`, rows that would.' }),
    updated: Type.Integer({ description: 'Rows whose contact existed before; if `checked`, exists.' }),
    rejected: Type.Integer({
      description: 'Rows that changed nothing; of one that is `checked`, that would change nothing.',
    }),
  },
  { $id: 'StepwiseImport', description: 'A CSV file of contacts that is checked before it is started.' },
)
export type StepwiseImport = Static<typeof StepwiseImport>

export const ImportChange = Type.Object(
  {
    columns: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
        description:
          'Headers and the fields that they are, or null for columns to leave out. Headers that are not named are what they are called.',
        examples: [{ 'Shoe size': 'attributes.shoe_size', Notes: null }],
      }),
    ),
    default_country: Type.Optional(
      NullableString({
        description:
          'ISO 3166 alpha-2: how to read phone numbers without a country code. Without it they are rejected.',
        examples: ['DE'],
      }),
    ),
    consent_declared: Type.Optional(
      Type.Boolean({ description: 'Confirms that everybody in the file consented to be contacted.' }),
    ),
  },
  { additionalProperties: false },
)
export type ImportChange = Static<typeof ImportChange>
