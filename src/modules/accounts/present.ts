/** The Account of the API. */
import type { Caller } from '../../api/caller.ts'
import { accountCapabilities, type Account } from '../../api/resources/account.ts'

export const accountObject = (caller: Caller): Account => ({
  id: caller.account_id,
  object: 'account',
  name: caller.account_name,
  mode: caller.mode,
  api_key: { id: caller.key_id!, name: caller.key_name, scopes: [...caller.scopes] },
  capabilities: [...accountCapabilities],
})
