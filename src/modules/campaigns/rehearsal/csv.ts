/** A rehearsal as CSV: each recipient with its outcome, in the order in which they would be sent to (behaviour: campaigns 7). */
import type { Readable } from 'node:stream'
import type { Caller } from '../../../api/caller.ts'
import { Turns } from '../../../lib/turns.ts'
import type { Transaction } from '../../../platform/database/sql.ts'
import { csvStream, pageWaitMs, type CsvColumn, type CsvPage } from '../../contacts/service.ts'
import type { CampaignDeps } from '../deps.ts'
import type { Outcome } from './outcomes.ts'
import { narrow, rehearsedCampaign } from './rehearsal.ts'

/** Each chunk is an expensive read of its own, so that a slow client holds no connection. `gone` aborts when nobody reads any more. */
export async function rehearsalCsv(
  deps: CampaignDeps,
  caller: Caller,
  id: string,
  gone: AbortSignal,
): Promise<Readable> {
  const { reads } = deps.platform
  const request = { account_id: caller.account_id, gone, narrow }
  const { audience, judge } = await rehearsedCampaign(deps, caller, id)
  const pageAfter = async (sql: Transaction, ended: AbortSignal, from: string): Promise<CsvPage<Outcome>> => {
    const turns = new Turns(ended)
    const { rows, after } = await audience.chunk(sql, from, turns)
    const next =
      after === null
        ? null
        : () => reads.run({ ...request, wait_ms: pageWaitMs }, (own, over) => pageAfter(own, over, after))
    return { rows: await judge.outcomes(sql, rows, turns), next }
  }
  return csvStream(columns, await reads.run(request, (sql, ended) => pageAfter(sql, ended, '')))
}

const columns: readonly CsvColumn<Outcome>[] = [
  { name: 'contact_id', cell: ({ candidate }) => candidate.contact_id ?? '' },
  { name: 'to', cell: ({ candidate }) => candidate.to },
  { name: 'name', cell: ({ candidate }) => candidate.name ?? '' },
  { name: 'outcome', cell: ({ reason }) => (reason === null ? 'send' : 'skip') },
  { name: 'reason', cell: ({ reason }) => reason ?? '' },
]
