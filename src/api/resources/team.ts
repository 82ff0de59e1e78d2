/** Members of an account, and invitations (behaviour: console 3). */
import { Type } from 'typebox'
import { NullableString, Timestamp } from './nullable.ts'
import { objectName } from './shared-fields.ts'
import { roleNames } from './console-session.ts'

const RoleName = Type.String({ enum: roleNames, description: 'Role in the account.' })

export const Member = Type.Object(
  {
    object: objectName('member'),
    id: Type.String({ description: 'Prefix `usr_`.' }),
    name: Type.String({ description: 'As it is shown to others.' }),
    email: Type.String({ description: 'With which they sign in.' }),
    role: RoleName,
    two_factor: Type.Boolean({ description: 'Gives a code when signing in.' }),
    created_at: Timestamp({ description: 'When they joined.' }),
  },
  { $id: 'Member', description: 'Somebody who works in an account.' },
)

export const Invitation = Type.Object(
  {
    object: objectName('invitation'),
    id: Type.String({ description: 'Prefix `inv_`.' }),
    email: Type.String({ description: 'The e-mail address of the invited person.' }),
    role: RoleName,
    invited_by: Type.String({ description: 'Prefix `usr_`.' }),
    mail: Type.Union(
      [
        Type.Null(),
        Type.Object({
          status: Type.String({
            enum: ['waiting', 'sent', 'not_sent'],
            description: '`not_sent`: a try has failed; it is tried again for a day.',
          }),
          error: NullableString({ description: 'Reply of the mail server.' }),
        }),
      ],
      { description: 'State of its e-mail; null if no mail server is configured.' },
    ),
    url: NullableString({ description: 'The link: where there is no mail server, once, in the answer that makes it.' }),
    expires_at: Timestamp(),
    created_at: Timestamp(),
  },
  { $id: 'Invitation', description: 'Somebody who may join an account.' },
)

export const InvitationPreview = Type.Object(
  {
    object: objectName('invitation_preview'),
    account_name: Type.String({ description: 'Of the account.' }),
    email: Type.String({ description: 'The e-mail address of the invited person.' }),
    role: RoleName,
    has_user: Type.Boolean({
      description:
        'They are known to sign in already: they give their password, and no name. False as well if the link was not mailed and they are not signed in.',
    }),
  },
  { $id: 'InvitationPreview', description: 'The invitation that a link belongs to.' },
)
