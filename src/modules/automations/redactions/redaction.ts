/** Deletes a customer's data in steps, as Shopify's `customers/redact` requests (behaviour: integrations 4.8). */
import { Problem } from '../../../api/problem.ts'
import { isoTime } from '../../../lib/clock.ts'
import { phoneKey, phoneVariants } from '../../../lib/phone.ts'
import { emptyReceipts, findReceiptsOfPerson } from '../events/repository.ts'
import {
  deleteRedaction,
  listRedactions,
  listRedactionsBefore,
  advanceRedaction,
  type RedactionRow,
} from './repository.ts'
import { forgetRunsOfEvents } from '../runs/repository.ts'
import type { ContactService } from '../../contacts/service.ts'
import { transact } from '../../../platform/database/sql.ts'
import { breachesMax, invariant, type Invariant, type PeriodicJob, type Platform } from '../../../platform/platform.ts'
import { untilDone } from '../../../platform/jobs/periodic-jobs.ts'

export interface RedactionDeps {
  readonly platform: Platform
  readonly contacts: ContactService
}

const contactsMax = 100
const receiptsAtOnce = 1000
const accountsAtOnce = 10
const overdueAfterMs = 3600_000

/** A failing redaction does not delay others, and is retried in the next run. */
export const redactionJob = (deps: RedactionDeps): PeriodicJob => ({
  name: 'run-redactions',
  every_ms: 2_000,
  async run() {
    const failed = new Map<string, unknown>()
    const done = await untilDone(deps.platform.clock, 1, async () => {
      let steps = 0
      for (const row of await listRedactions(deps.platform.pool, [...failed.keys()], accountsAtOnce)) {
        try {
          await redactSome(deps, row)
        } catch (error) {
          failed.set(row.id, error)
        }
        steps += 1
      }
      return steps
    })
    for (const [id, error] of failed) throw new Error(`the redaction ${id} could not be done`, { cause: error })
    return done
  },
})

export const redactionInvariants = ({ clock }: Pick<Platform, 'clock'>): readonly Invariant[] => [
  invariant<{ id: string }>(
    'a redaction is done within the hour',
    (sql) => listRedactionsBefore(sql, isoTime(clock.now() - overdueAfterMs), breachesMax),
    ({ id }) =>
      `The customer's data of redaction ${id} is not deleted yet. See the log of the periodic job \`run-redactions\`.`,
  ),
]

/**
 * First the contacts, then the receipts from the newest on, since waiting runs belong to those. Steps are repeatable.
 */
async function redactSome(deps: RedactionDeps, row: RedactionRow): Promise<void> {
  const { pool } = deps.platform
  if (row.before_id === null) {
    await removeContacts(deps, row)
    return await advanceRedaction(pool, row, row.id)
  }
  const { external_id, phone, email, order_ids } = row
  const phones = phone === null ? [] : phoneVariants(phoneKey(phone)).map((variant) => variant.slice(1))
  const names = { external_id, phones, email, order_ids }
  const found = await findReceiptsOfPerson(
    pool,
    row,
    { source_id: row.source_id, before_id: row.before_id, rows_max: receiptsAtOnce },
    names,
  )
  // receipts last: a repeated step needs the contacts that they name
  for (const id of found.contact_ids) await remove(deps, row, id)
  await transact(pool, async (tx) => {
    await emptyReceipts(tx, row, found.ids)
    await forgetRunsOfEvents(tx, row, found.ids)
    if (found.next === null) await deleteRedaction(tx, row)
    else await advanceRedaction(tx, row, found.next)
  })
}

async function removeContacts(deps: RedactionDeps, row: RedactionRow): Promise<void> {
  const { contacts, platform } = deps
  const { phone, email } = row
  const ofPhone = phone === null ? undefined : await contacts.findByAddress(platform.pool, row, 'sms', phone)
  if (ofPhone !== undefined) await remove(deps, row, ofPhone.id)
  while (email !== null) {
    const found = await contacts.list(platform.pool, row, { email }, { limit: contactsMax, starting_after: undefined })
    for (const { id } of found) await remove(deps, row, id)
    if (found.length === 0) break
  }
}

async function remove({ platform, contacts }: RedactionDeps, row: RedactionRow, id: string): Promise<void> {
  try {
    await contacts.remove(platform.pool, row, id)
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'resource_missing')) throw error
  }
}
