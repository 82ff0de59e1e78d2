/** HTTP operations of the account behind a key. */
import { Account } from '../../api/resources/account.ts'
import { reply, route, type Route } from '../../platform/http/route.ts'
import type { AccountService } from './service.ts'

export const accountRoutes = (accounts: AccountService): Route[] => [
  route({
    operation: 'me.retrieve',
    method: 'GET',
    path: '/v1/me',
    scope: null,
    tag: 'Account',
    summary: 'Retrieve the account behind the key',
    description: 'The account, mode and scopes of the key that makes this request. Every accepted key may call it.',
    replies: { 200: Account },
    errors: [],
    handler: async ({ caller }) => reply(200, accounts.me(caller)),
  }),
]
