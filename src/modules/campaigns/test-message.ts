/** Sends a campaign's message to one address before the launch (behaviour: campaigns 6). */
import type { Caller } from '../../api/caller.ts'
import type { Detail } from '../../api/errors.ts'
import { Problem } from '../../api/problem.ts'
import type { CampaignRow } from './campaign.ts'
import type { CampaignDeps } from './deps.ts'
import { requireCampaign } from './queries.ts'
import { findAdhocRecipients } from './repository.ts'
import { renderedFor, valuesOf } from './sending/rendering.ts'
import type { RequestKey, Sent } from '../messages/service.ts'
import type { Db } from '../../platform/database/sql.ts'

/** In any status. With an Idempotency-Key it is sent once, whatever changes meanwhile. */
export async function sendTest(
  deps: CampaignDeps,
  sql: Db,
  caller: Caller,
  id: string,
  to: string,
  request: RequestKey | undefined,
): Promise<Sent> {
  return await deps.messages
    .sendBuilt(caller, request, async () => await testMessage(deps, sql, caller, id, to))
    .catch((error: unknown) => {
      throw error instanceof Problem ? ofCampaign(error) : error
    })
}

/** Merge tags have the values of the first ad-hoc recipient, and of the contact with this address. */
async function testMessage(deps: CampaignDeps, sql: Db, caller: Caller, id: string, to: string) {
  const row: CampaignRow = await requireCampaign(sql, caller, id)
  const sample = (await findAdhocRecipients(sql, caller, id))?.[0]
  const contact = await deps.contacts.findByAddress(sql, caller, row.channel_type, to)
  const values = valuesOf(
    {
      to,
      first_name: sample?.first_name ?? null,
      last_name: sample?.last_name ?? null,
      variables: sample?.variables ?? null,
    },
    contact,
  )
  return { channel: row.channel_id, to, ...renderedFor(row, values) }
}

function ofCampaign(problem: Problem): Problem {
  const { code, message, param, details, headers } = problem
  if (details === undefined) return problem
  const pathOf = (path: string): string => (path === 'to' || path.startsWith('message') ? path : `message.${path}`)
  const moved = details.map((detail): Detail => ({ ...detail, param: pathOf(detail.param) }))
  return new Problem(code, message, {
    param: param === undefined ? undefined : pathOf(param),
    details: moved,
    headers: headers === undefined ? undefined : { ...headers },
  })
}
