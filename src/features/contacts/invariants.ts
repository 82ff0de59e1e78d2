/** The truths of contacts that `posthorn doctor` proves inside one snapshot: addresses, counts, labels, and consent against suppressions. */
import type { Tenant } from '../../contract/caller.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { Invariant, Platform } from '../../platform/platform.ts'
import * as audit from './audit.ts'
import { addressesOn, suppressibleTypes } from './consequences.ts'
import { addressesOf, labelsOf, statusOf } from './contact.ts'
import { suppressionHash, type KeyedHash } from './recipients.ts'

const most = 20
const chunk = 2000

export const contactInvariants = (platform: Pick<Platform, 'secrets'>): readonly Invariant[] => [
  {
    name: 'addresses-follow-contacts',
    breaches: async (sql) =>
      (await audit.addressBreaches(sql)).map(({ account_id, contact_id, kind, in_contact }) =>
        in_contact ? `The ${kind} address of contact ${contact_id} of ${account_id} is missing from contact_addresses, or differs in blocked.` : `contact_addresses has a ${kind} address for ${contact_id} of ${account_id} that the contact has not.`,
      ),
  },
  {
    name: 'contact-counters-equal-counts',
    breaches: async (sql) => (await audit.countBreaches(sql)).map((row) => `The counter of ${row.kind} ${row.key} of ${row.account_id} (${row.mode}) says ${row.held}, but there are ${row.counted}.`),
  },
  { name: 'consent-equals-suppressions', breaches: (sql) => consentBreaches(sql, platform.secrets) },
]

/** Walks through all contacts: every address of an opted-out channel type is suppressed, and no other. Labels are looked at on the way. */
async function consentBreaches(sql: Db, secrets: KeyedHash): Promise<string[]> {
  const found: string[] = []
  let after = { account_id: '', mode: '', id: '' }
  while (found.length < most) {
    const rows = await audit.contactsAbove(sql, after, chunk)
    found.push(...(await breachesAmong(sql, secrets, rows)))
    if (rows.length < chunk) break
    after = rows[rows.length - 1]!
  }
  return found.slice(0, most)
}

async function breachesAmong(sql: Db, secrets: KeyedHash, rows: readonly audit.AuditedContact[]): Promise<string[]> {
  const found: string[] = []
  const questions = new Map<string, { text: string; stopped: boolean }>()
  const keys: audit.TenantSuppression[] = []
  for (const row of rows) {
    if ([...row.labels].sort().join('\n') !== labelsOf(row).sort().join('\n')) found.push(`The labels of contact ${row.id} of ${row.account_id} do not follow from its tags and consent.`)
    const tenant = { account_id: row.account_id, mode: row.mode } as Tenant
    for (const channel_type of new Set(addressesOf(row).flatMap(suppressibleTypes))) {
      for (const key of addressesOn(row, channel_type)) {
        const address_hash = suppressionHash(secrets, tenant, channel_type, key.address)
        keys.push({ ...tenant, channel_type, address_hash })
        questions.set(`${channel_type}|${address_hash}`, { text: `contact ${row.id} of ${row.account_id} on ${channel_type}`, stopped: statusOf(row.consent, channel_type) === 'opted_out' })
      }
    }
  }
  const suppressed = new Set((await audit.suppressionsAmong(sql, keys)).map((key) => `${key.channel_type}|${key.address_hash}`))
  for (const [key, { text, stopped }] of questions) {
    if (stopped && !suppressed.has(key)) found.push(`The opt-out of ${text} is not among the suppressions.`)
    if (!stopped && suppressed.has(key)) found.push(`The suppression of ${text} does not show in its consent.`)
  }
  return found
}
