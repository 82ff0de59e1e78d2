/** The session of the console (behaviour: console 2.4). */
import { Type, type Static } from 'typebox'
import { NullableString, Timestamp } from './nullable.ts'
import { objectName } from './shared-fields.ts'

export const roleNames = ['owner', 'admin', 'developer', 'marketer', 'agent', 'finance', 'viewer']

export const ConsoleUser = Type.Object(
  {
    id: Type.String({ description: 'Prefix `usr_`.' }),
    name: Type.String({ description: 'As it is shown to others.' }),
    email: Type.String({ description: 'With which they sign in, in lower case.' }),
    pending_email: NullableString({
      description: 'The address that they have asked for. It replaces `email` once its link is opened; null for none.',
    }),
    admin: Type.Boolean({ description: 'Administers the platform.' }),
    two_factor: Type.Boolean({ description: 'Gives a code when signing in.' }),
  },
  { $id: 'ConsoleUser', description: 'Somebody who signs in to the console.' },
)

export const ConsoleSession = Type.Object(
  {
    object: objectName('session'),
    id: Type.String({ description: 'Prefix `ses_`.' }),
    user: ConsoleUser,
    accounts: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Prefix `acc_`; goes into the header `Service-Account`.' }),
        name: Type.String({ description: 'Of the account.' }),
        role: Type.String({ enum: roleNames, description: 'Role of the user in the account.' }),
      }),
      { description: 'The accounts that the user is a member of.' },
    ),
    impersonating: Type.Union(
      [Type.Null(), Type.Object({ account_id: Type.String(), reason: Type.String(), expires_at: Type.String() })],
      {
        description: 'For whom an administrator of the platform acts, or null.',
      },
    ),
  },
  { $id: 'ConsoleSession', description: 'Who is signed in.' },
)
export type ConsoleSession = Static<typeof ConsoleSession>

export const SessionSummary = Type.Object(
  {
    object: objectName('session_summary'),
    id: Type.String({ description: 'Prefix `ses_`.' }),
    current: Type.Boolean({ description: 'It is the one that asks.' }),
    address: Type.String({ description: 'From which it was begun.' }),
    user_agent: NullableString({ description: 'The browser, as it names itself.' }),
    seen_at: Timestamp(),
    created_at: Timestamp(),
  },
  { $id: 'SessionSummary', description: 'A place where somebody is signed in.' },
)
export type SessionSummary = Static<typeof SessionSummary>

export const ConsoleSetup = Type.Object(
  {
    object: objectName('setup'),
    needed: Type.Boolean({
      description: 'Nobody can sign in yet: the link that the service prints at its start makes the first owner.',
    }),
    mail: Type.Boolean({ description: 'The service sends e-mails: links for a new password arrive.' }),
    oauth: Type.Union(
      [Type.Null(), Type.Object({ name: Type.String({ description: 'Name of the identity provider.' }) })],
      {
        description: 'The OIDC provider with which people sign in too, or null.',
      },
    ),
  },
  { $id: 'ConsoleSetup', description: 'The available sign-in methods.' },
)

export const SecondFactor = Type.Object(
  {
    object: objectName('two_factor'),
    secret: Type.String({ description: 'In base 32, to type into an authenticator app.' }),
    otpauth_url: Type.String({ description: 'The same, to show as a QR code.' }),
  },
  { $id: 'SecondFactor', description: 'A second factor that waits for its first code.' },
)

export const RecoveryCodes = Type.Object(
  {
    object: objectName('recovery_codes'),
    recovery_codes: Type.Array(Type.String(), {
      description: 'Ten, each of one use, in the place of a code of the app. They are not shown again.',
    }),
  },
  { $id: 'RecoveryCodes', description: 'For whoever has lost the authenticator app.' },
)
