/** The record of one contact, for data access requests. */
import { Type, type Static } from 'typebox'
import { objectName } from './shared-fields.ts'
import { ConsentChange, Contact, contactLimits } from './contact.ts'
import { Timestamp } from './nullable.ts'

export const ContactExport = Type.Object(
  {
    object: objectName('contact_export'),
    contact: Contact,
    consent_history: Type.Array(ConsentChange, { description: 'Every change, newest first.' }),
    lists: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Prefix `lst_`.' }),
        object: objectName('contact_list'),
        name: Type.String({ maxLength: contactLimits.list_name_length_max, description: 'As the list is called now.' }),
        added_at: Timestamp(),
      }),
      {
        description: 'The contact lists that the contact is a member of.',
      },
    ),
    rejected_import_rows: Type.Array(
      Type.Object({
        import_id: Type.String({ description: 'Prefix `imp_`.' }),
        row: Type.Integer({ description: 'Its number in the file; the header is row 1.' }),
        reason: Type.String({
          description: 'Why it was not applied, for people.',
          examples: ['The phone number is not valid.'],
        }),
        cells: Type.Array(Type.String(), { description: 'Values of its cells.' }),
        created_at: Timestamp(),
      }),
      { description: 'Rows of imports that name this contact and were not applied, or not wholly.' },
    ),
    exported_at: Timestamp(),
  },
  {
    $id: 'ContactExport',
    description:
      'The whole record of one contact. Its messages have a record of their own: those sent to it are listed by GET /v1/messages with `to`, those it wrote carry its `contact_id`.',
  },
)
export type ContactExport = Static<typeof ContactExport>
