import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CampaignRow } from '../campaign.ts'
import type { CampaignDeps } from '../deps.ts'
import { RecipientLoader } from './recipient-loader.ts'
import type { ContactRow } from '../../contacts/service.ts'
import { type PlatformWorld, startPlatform } from '../../../../test/support/world.ts'

const account_id = 'acc_01kg9p6je0e6z9vsnhtbf6d24v'
const campaignOf = (id: string, owner = account_id) => ({ account_id: owner, mode: 'live', id }) as CampaignRow
const contacts = (owners: string[] = []) =>
  ({
    findByIds(_sql: unknown, tenant: { account_id: string }, ids: readonly string[]) {
      owners.push(tenant.account_id)
      return Promise.resolve(ids.filter((id) => id !== 'ct_gone').map((id) => ({ id }) as ContactRow))
    },
  }) as unknown as CampaignDeps['contacts']

async function campaignWithRecipients(
  { pool }: PlatformWorld,
  campaign_id: string,
  owner = account_id,
  contact_id: string | null = null,
): Promise<void> {
  await pool`
    insert into campaign_recipients (account_id, mode, campaign_id, n, contact_id, "to", address, timezone, status)
    select ${owner}, 'live', ${campaign_id}, n, ${contact_id}, '+1202555' || n, '+1202555' || n, case when n % 2 = 0 then 'Asia/Tokyo' else '' end, 'pending'
    from generate_series(1, 20) n`
}

test('concurrent loads of several campaigns share a statement, and each gets its own recipients in order', async (t) => {
  const world = await startPlatform(t)
  await campaignWithRecipients(world, 'cmp_a')
  await campaignWithRecipients(world, 'cmp_b', 'acc_other', 'ct_here')
  await campaignWithRecipients(world, 'cmp_c', account_id, 'ct_gone')
  let statements = 0
  const counted = new Proxy(world.pool, {
    apply: (target, self, args) => ((statements += 1), Reflect.apply(target, self, args) as unknown),
  })
  const owners: string[] = []
  const recipients = new RecipientLoader({ platform: { ...world.platform, pool: counted }, contacts: contacts(owners) })

  const [a, b, c] = await Promise.all([
    recipients.next(campaignOf('cmp_a'), { timezones: ['', 'Asia/Tokyo'], excluded: [2, 3], limit: 4 }),
    recipients.next(campaignOf('cmp_b', 'acc_other'), { timezones: ['Asia/Tokyo'], excluded: [], limit: 2 }),
    recipients.next(campaignOf('cmp_c'), { timezones: ['', 'Asia/Tokyo'], excluded: [], limit: 1 }),
  ])

  const shown = (some: typeof a) => some.map(({ recipient, contact }) => [recipient.n, contact?.id])
  assert.deepEqual(shown(a), [
    [1, undefined],
    [4, undefined],
    [5, undefined],
    [6, undefined],
  ])
  assert.deepEqual(shown(b), [
    [2, 'ct_here'],
    [4, 'ct_here'],
  ])
  assert.deepEqual(shown(c), [[1, undefined]])
  assert.deepEqual([statements, owners.toSorted()], [1, [account_id, 'acc_other']])
})

test('a failed load of one campaign does not affect others', async (t) => {
  const world = await startPlatform(t)
  await campaignWithRecipients(world, 'cmp_a')
  await campaignWithRecipients(world, 'cmp_b')
  const recipients = new RecipientLoader({ platform: world.platform, contacts: contacts() })
  const wanted = { timezones: [''], excluded: [], limit: 3 }

  const good = recipients.next(campaignOf('cmp_a'), wanted)
  // a number that the database refuses
  const bad = recipients.next(campaignOf('cmp_b'), { ...wanted, excluded: [2 ** 40] })

  await assert.rejects(bad)
  assert.deepEqual(
    (await good).map(({ recipient }) => recipient.n),
    [1, 3, 5],
  )
})
