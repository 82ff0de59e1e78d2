/** Accounts as platform administrators see them (behaviour: console 3). */
import { Type } from 'typebox'
import { roleNames } from './console-session.ts'
import { NullableString, NullableTimestamp, Timestamp } from './nullable.ts'
import { objectName } from './shared-fields.ts'

export const AdminAccount = Type.Object(
  {
    object: objectName('admin_account'),
    id: Type.String({ description: 'Prefix `acc_`.' }),
    name: Type.String({ description: 'Its name.' }),
    owner_email: NullableString({ description: 'Where notices to its owner go.' }),
    suspended_at: NullableTimestamp(),
    created_at: Timestamp(),
  },
  { $id: 'AdminAccount', description: 'An account of the installation.' },
)

export const AdminUser = Type.Object(
  {
    object: objectName('admin_user'),
    id: Type.String({ description: 'Prefix `usr_`.' }),
    name: Type.String({ description: 'As it is shown to others.' }),
    email: Type.String({ description: 'With which they sign in.' }),
    admin: Type.Boolean({ description: 'Administers the platform.' }),
    two_factor: Type.Boolean({ description: 'Gives a code when signing in.' }),
    accounts: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Prefix `acc_`.' }),
        name: Type.String({ description: 'Of the account.' }),
        role: Type.String({ enum: roleNames, description: 'Role of the user in the account.' }),
      }),
      { description: 'The accounts that they are a member of.' },
    ),
    created_at: Timestamp(),
  },
  { $id: 'AdminUser', description: 'Somebody who signs in to the console.' },
)

export const AdminEmail = Type.Object(
  {
    object: objectName('email'),
    id: Type.String({ description: 'A number.' }),
    account_id: NullableString({ description: 'Of which account it tells; null: of none.' }),
    recipient: NullableString({ description: 'null for an account without an owner e-mail address.' }),
    subject: Type.String({ description: 'Subject of the e-mail.' }),
    status: Type.String({
      enum: ['kept', 'waiting', 'sent', 'not_sent'],
      description: '`kept`: there is no mail server. `not_sent`: a try has failed; it is tried again for a day.',
    }),
    attempts: Type.Integer({ description: 'How often it was tried.' }),
    error: NullableString({ description: 'Last reply of the mail server.' }),
    sent_at: NullableTimestamp(),
    created_at: Timestamp(),
  },
  { $id: 'AdminEmail', description: 'An e-mail, without what was in it.' },
)
