/** Accounts and their API keys. */
import type { Module } from '../../module.ts'
import { isAccount, ofAccount } from '../../platform/database/table-scope.ts'
import { accountRoutes } from './routes.ts'
import { accountService, isSourceKeyText, type AccountService } from './service.ts'

export const accountsModule: Module<object, { readonly accounts: AccountService }> = {
  name: 'accounts',
  tables: { accounts: isAccount, api_keys: ofAccount },
  build({ platform }) {
    const accounts = accountService(platform)
    return {
      services: { accounts },
      routes: accountRoutes(accounts),
      findKey: (text) => (isSourceKeyText(text) ? null : accounts.findKey(text)),
      caches: { 'forget-keys': accounts.forgetKeys },
    }
  },
}
