/** A campaign's message to one address, to see it before it is launched: an API message like any other (behaviour: campaigns 6). */
import type { Caller } from '../../api/caller.ts'
import type { Detail } from '../../api/errors.ts'
import { Problem } from '../../api/problem.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { RequestKey, Sent } from '../messages/service.ts'
import type { CampaignDeps } from './deps.ts'
import { existing } from './reading.ts'
import type { CampaignRow } from './rows.ts'
import { findAdhocRecipients } from './store.ts'
import { renderedFor, valuesOf } from './sending/rendering.ts'

/** Of a campaign in any status. Under an Idempotency-Key it is sent once, whatever has become of the campaign or of the contact since. */
export async function sendTest(
  deps: CampaignDeps,
  sql: Db,
  caller: Caller,
  id: string,
  to: string,
  asked: RequestKey | undefined,
): Promise<Sent> {
  return await deps.messages
    .sendMade(caller, asked, async () => await testMessage(deps, sql, caller, id, to))
    .catch((error: unknown) => {
      throw error instanceof Problem ? ofCampaign(error) : error
    })
}

/** Tags are filled in as for the first recipient of an ad-hoc audience, with what is known of the contact at this address. */
async function testMessage(deps: CampaignDeps, sql: Db, caller: Caller, id: string, to: string) {
  const row: CampaignRow = await existing(sql, caller, id)
  const sample = (await findAdhocRecipients(sql, caller, id))?.[0]
  const contact = await deps.contacts.ofAddress(sql, caller, row.channel_type, to)
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

/** The paths of a refusal as the campaign has them: `text.body` of the message is its `message.text.body`. */
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
