/** The account settings of the console. */
import { Type, type Static } from 'typebox'
import { NullableString, Timestamp } from './nullable.ts'
import { objectName } from './shared-fields.ts'

export const AccountSettings = Type.Object(
  {
    object: objectName('account'),
    id: Type.String({ description: 'Prefix `acc_`.' }),
    name: Type.String({ description: 'Name of the account.' }),
    timezone: Type.String({
      description: 'An IANA time zone: days of statistics, and times that campaigns and automations keep to.',
    }),
    default_country: NullableString({
      description: 'ISO 3166 alpha-2: the country in which its national phone numbers are written, or null.',
    }),
    low_balance_micros: Type.Integer({
      description: 'In micro-USD: below it the owners are told, by the event `balance.low` and an e-mail.',
    }),
    created_at: Timestamp(),
  },
  { $id: 'AccountSettings', description: 'An account and what can be set for it.' },
)
export type AccountSettings = Static<typeof AccountSettings>
