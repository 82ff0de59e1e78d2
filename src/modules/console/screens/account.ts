/** The account's settings (behaviour: console-records 2). */
import { Type } from 'typebox'
import { AccountSettings } from '../../../api/resources/account-settings.ts'
import { type Db, transact } from '../../../platform/database/sql.ts'
import { reply } from '../../../platform/http/route.ts'
import type { AccountService } from '../../accounts/service.ts'
import type { BillingService } from '../../billing/service.ts'
import { requireName } from '../people/setup.ts'
import { consoleRoute, type ConsoleRoute } from '../route.ts'

export interface AccountRoutesParts {
  readonly accounts: AccountService
  readonly billing: BillingService
}

const facts = { path: '/console/api/account', access: 'account', permission: 'settings', scope: null } as const
const lowBalanceMax = 1_000_000_000_000

export const accountRoutes = ({ accounts, billing }: AccountRoutesParts): ConsoleRoute[] => [
  consoleRoute({
    ...facts,
    operation: 'account.retrieve',
    method: 'GET',
    summary: 'Retrieve the account',
    replies: { 200: AccountSettings },
    errors: [],
    handler: async ({ caller, sql }) => reply(200, await settingsOf(sql, accounts, billing, caller.account_id)),
  }),
  consoleRoute({
    ...facts,
    operation: 'account.update',
    method: 'PATCH',
    summary: 'Update the account',
    description:
      'Absent fields stay. A new name has no line breaks and no web addresses, because e-mails show it. `low_balance_micros` 0 turns the warning off.',
    body: Type.Object(
      {
        name: Type.Optional(
          Type.String({ minLength: 1, maxLength: 120, description: 'Name of the account.', examples: ['Example Ltd'] }),
        ),
        timezone: Type.Optional(
          Type.String({ minLength: 1, maxLength: 64, description: 'An IANA time zone.', examples: ['Europe/Berlin'] }),
        ),
        low_balance_micros: Type.Optional(
          Type.Integer({ minimum: 0, maximum: lowBalanceMax, description: 'In micro-USD.', examples: [10_000_000] }),
        ),
      },
      { additionalProperties: false },
    ),
    replies: { 200: AccountSettings },
    errors: [],
    async handler({ caller: { account_id }, body: { low_balance_micros, ...changes }, sql }) {
      const changed = await transact(sql, async (tx) => {
        if (changes.name !== undefined && changes.name !== (await accounts.find(tx, account_id)).name)
          requireName('name', changes.name)
        await accounts.update(account_id, changes, tx)
        if (low_balance_micros !== undefined) await billing.setLowBalance(tx, account_id, low_balance_micros)
        return await settingsOf(tx, accounts, billing, account_id)
      })
      accounts.publishKeys()
      return reply(200, changed)
    },
  }),
]

async function settingsOf(
  sql: Db,
  accounts: AccountService,
  billing: BillingService,
  account_id: string,
): Promise<AccountSettings> {
  const { id, name, timezone, default_country, created_at } = await accounts.find(sql, account_id)
  return {
    object: 'account',
    id,
    name,
    timezone,
    default_country,
    low_balance_micros: await billing.lowBalance(sql, account_id),
    created_at,
  }
}
