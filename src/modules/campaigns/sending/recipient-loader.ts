/** Loads the next recipients. Requests of campaigns within one turn of the event loop share a query. */
import { tenantOf } from '../../../api/caller.ts'
import { contactsById } from '../audience/eligibility.ts'
import type { CampaignRow } from '../campaign.ts'
import type { CampaignDeps } from '../deps.ts'
import { listUnsent, listUnsentAmong, type UnsentRow, type WantedRecipients } from '../recipient-repository.ts'
import type { ContactRow } from '../../contacts/service.ts'
import type { Fragment } from '../../../platform/database/sql.ts'

export interface NextRecipient {
  readonly recipient: UnsentRow
  readonly contact: ContactRow | undefined
}

interface LoadRequest {
  readonly campaign: CampaignRow
  readonly wanted: WantedRecipients
  readonly resolve: (recipients: readonly NextRecipient[]) => void
  readonly reject: (error: unknown) => void
}

type Deps = Pick<CampaignDeps, 'platform' | 'contacts'>

const rowsMax = 1000

export class RecipientLoader {
  readonly #deps: Deps
  #requests: LoadRequest[] = []

  constructor(deps: Deps) {
    this.#deps = deps
  }

  next(campaign: CampaignRow, wanted: WantedRecipients): Promise<readonly NextRecipient[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly NextRecipient[]>()
    if (this.#requests.push({ campaign, wanted, resolve, reject }) === 1) setImmediate(() => this.#answer())
    return promise
  }

  async loadAmong(campaign: CampaignRow, wanted: WantedRecipients, among: Fragment): Promise<readonly NextRecipient[]> {
    const { platform } = this.#deps
    const { account_id, mode, id } = campaign
    const found = await listUnsentAmong(platform.pool, { account_id, mode, id, ...wanted }, among)
    const known = await contactsById(this.#deps, platform.pool, campaign, found)
    return found.map((recipient) => withContact(recipient, known))
  }

  #answer(): void {
    const requests = this.#requests
    this.#requests = []
    let [first, rows] = [0, 0]
    for (const [index, { wanted }] of requests.entries()) {
      if (index > first && rows + wanted.limit > rowsMax) {
        void loadTogether(this.#deps, requests.slice(first, index))
        ;[first, rows] = [index, 0]
      }
      rows += wanted.limit
    }
    void loadTogether(this.#deps, requests.slice(first))
  }
}

/** Never rejects: after a failure each request is retried alone. */
async function loadTogether(deps: Deps, requests: readonly LoadRequest[]): Promise<void> {
  const found = await readNext(deps, requests).catch(() => null)
  for (const [index, one] of requests.entries()) {
    if (found !== null) one.resolve(found[index]!)
    else void readNext(deps, [one]).then(([alone]) => one.resolve(alone!), one.reject)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

async function readNext(
  deps: Deps,
  requests: readonly Pick<LoadRequest, 'campaign' | 'wanted'>[],
): Promise<NextRecipient[][]> {
  const { pool } = deps.platform
  const found = await listUnsent(
    pool,
    requests.map(({ campaign: { account_id, mode, id }, wanted }) => ({ account_id, mode, id, ...wanted })),
  )
  const known = new Map<string, ContactRow>()
  for (const group of Map.groupBy(
    requests.keys(),
    (index) => `${requests[index]!.campaign.account_id} ${requests[index]!.campaign.mode}`,
  ).values()) {
    const recipients = group.flatMap((index) => found[index]!)
    for (const [id, contact] of await contactsById(deps, pool, tenantOf(requests[group[0]!]!.campaign), recipients))
      known.set(id, contact)
  }
  return found.map((rows) => rows.map((recipient) => withContact(recipient, known)))
}

const withContact = (recipient: UnsentRow, known: ReadonlyMap<string, ContactRow>): NextRecipient => ({
  recipient,
  contact: recipient.contact_id === null ? undefined : known.get(recipient.contact_id),
})
