/** The truths of contacts that `posthorn doctor` proves inside one snapshot: addresses, counts, labels, and consent against suppressions. */
import type { Tenant } from '../../api/caller.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { Invariant, Platform } from '../../platform/platform.ts'
import * as audit from './audit-store.ts'
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
        in_contact
          ? `The ${kind} address of contact ${contact_id} of ${account_id} is missing from contact_addresses, or differs in blocked.`
          : `contact_addresses has a ${kind} address for ${contact_id} of ${account_id} that the contact has not.`,
      ),
  },
  {
    name: 'contact-counters-equal-counts',
    breaches: async (sql) =>
      (await audit.countBreaches(sql)).map(
        (row) =>
          `The counter of ${row.kind} ${row.key} of ${row.account_id} (${row.mode}) says ${row.held}, but there are ${row.counted}.`,
      ),
  },
  { name: 'consent-equals-suppressions', breaches: (sql) => consentBreaches(sql, platform.secrets) },
]

/** Walks through all contacts: every address of an opted-out channel type is suppressed, and no other. Labels are looked at on the way. */
async function consentBreaches(sql: Db, secrets: KeyedHash): Promise<string[]> {
  const found: string[] = []
  const suppressing = new Set(await audit.suppressingTenants(sql))
  let after = { account_id: '', mode: '', id: '' }
  while (found.length < most) {
    const rows = await audit.contactsAbove(sql, after, chunk)
    const groups = Map.groupBy(rows, (row) => `${row.account_id}|${row.mode}`)
    for (const row of rows) found.push(...labelBreaches(row))
    for (const [tenant, group] of groups)
      found.push(
        ...(suppressing.has(tenant) ? await suppressionBreaches(sql, secrets, group) : missingSuppressions(group)),
      )
    if (rows.length < chunk) break
    after = rows[rows.length - 1]!
  }
  return found.slice(0, most)
}

function labelBreaches({ labels, id, account_id, ...row }: audit.AuditedContact): string[] {
  const wanted = labelsOf(row)
  const agree = wanted.length === labels.length && wanted.every((label) => labels.includes(label))
  return agree ? [] : [`The labels of contact ${id} of ${account_id} do not follow from its tags and consent.`]
}

const stoppedTypes = (row: audit.AuditedContact): string[] =>
  [...new Set(addressesOf(row).flatMap(suppressibleTypes))].filter(
    (type) => statusOf(row.consent, type) === 'opted_out',
  )

/** Of a tenant without any suppression. */
const missingSuppressions = (rows: readonly audit.AuditedContact[]): string[] =>
  rows.flatMap((row) =>
    stoppedTypes(row).map(
      (type) => `The opt-out of contact ${row.id} of ${row.account_id} on ${type} is not among the suppressions.`,
    ),
  )

/** Of contacts of one tenant. */
async function suppressionBreaches(
  sql: Db,
  secrets: KeyedHash,
  rows: readonly audit.AuditedContact[],
): Promise<string[]> {
  const tenant = { account_id: rows[0]!.account_id, mode: rows[0]!.mode } as Tenant
  const questions = new Map<string, { row: audit.AuditedContact; type: string }>()
  for (const row of rows) {
    for (const type of new Set(addressesOf(row).flatMap(suppressibleTypes))) {
      for (const key of addressesOn(row, type))
        questions.set(suppressionHash(secrets, tenant, type, key.address), { row, type })
    }
  }
  const types = [...new Set([...questions.values()].map(({ type }) => type))]
  const suppressed = new Set(await audit.suppressedAmong(sql, tenant, types, [...questions.keys()]))
  const found: string[] = []
  for (const [hash, { row, type }] of questions) {
    const stopped = statusOf(row.consent, type) === 'opted_out'
    if (stopped && !suppressed.has(hash))
      found.push(`The opt-out of contact ${row.id} of ${row.account_id} on ${type} is not among the suppressions.`)
    if (!stopped && suppressed.has(hash))
      found.push(`The suppression of contact ${row.id} of ${row.account_id} on ${type} does not show in its consent.`)
  }
  return found
}
