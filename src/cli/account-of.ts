/** The account that a command means: the one that was named, or the only one that there is. */
import type { App } from '../app.ts'
import type { Tenant } from '../api/caller.ts'
import { OperatorError } from '../lib/operator-error.ts'

/** Throws an OperatorError where none is meant for certain. */
export async function accountOf(app: App, account: string | undefined): Promise<Tenant['account_id']> {
  const all = await app.services.accounts.list()
  const found = account === undefined ? (all.length === 1 ? all[0] : undefined) : all.find(({ id }) => id === account)
  if (found !== undefined) return found.id as Tenant['account_id']
  if (account !== undefined)
    throw new OperatorError(
      `No account has the id ${JSON.stringify(account.slice(0, 80))}. \`posthorn accounts list\` shows them.`,
    )
  throw new OperatorError(
    all.length === 0
      ? 'There is no account yet: make one with `posthorn accounts create --name N`.'
      : 'There is more than one account: say which with --account. `posthorn accounts list` shows them.',
  )
}
