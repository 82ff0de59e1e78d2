/** Consent that a provider reports, such as an opt-out in its own app (behaviour: consent 4). */
import type { Tenant } from '../../../api/caller.ts'
import type { ConsentStatus } from '../../../api/resources/contact.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Db, Transaction } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { addressKeyOf } from '../addresses.ts'
import { groupByTenant, keyText, requireOwner, withConflictRetries } from '../contact-locks.ts'
import { saveContacts } from '../contact-writer.ts'
import { marketingType } from '../contact.ts'
import { findAddresses, lockContacts } from '../repository.ts'
import type { SaveContext, SaveItem } from '../save-item.ts'
import { lastConsentChanges, type LastConsentChange } from './repository.ts'
import { setAddressConsent } from './suppressions.ts'

export interface ProviderConsent extends Tenant {
  readonly channel_type: string
  readonly address: string
  readonly status: ConsentStatus
  readonly marketing: boolean
  /** A report older than the contact's last change is ignored. */
  readonly occurred_at: string
  readonly message_id?: string
}

export async function receiveProviderConsent(
  platform: Platform,
  sql: Db,
  reports: readonly ProviderConsent[],
): Promise<void> {
  for (const [tenant, group] of groupByTenant(reports))
    await withConflictRetries(sql, (tx) => applyReports(platform, tx, tenant, group))
}

async function applyReports(
  platform: Platform,
  tx: Transaction,
  tenant: Tenant,
  reports: readonly ProviderConsent[],
): Promise<void> {
  const context: SaveContext = { at: isoTime(platform.clock.now()), source: 'provider' }
  const keys = reports.map((one) => addressKeyOf(one.channel_type, one.address))
  const owners = await lockOwners(tx, tenant, keys)
  const last = await lastConsentChanges(tx, tenant, [...owners.values()], [...new Set(reports.map(consentType))])
  const items: SaveItem[] = []
  for (const [index, report] of reports.entries()) {
    const { channel_type, status, occurred_at, marketing, message_id } = report
    const key = keys[index]!
    const id = owners.get(keyText(key))
    if (isOutdated(report, last.get(`${id}|${consentType(report)}`))) continue
    if (id === undefined) {
      const consent = {
        channel_type: consentType(report),
        key,
        status,
        source: 'provider' as const,
        occurred_at,
        message_id: message_id ?? null,
      }
      await setAddressConsent(platform, tx, tenant, consent, context)
      continue
    }
    const write = { ...(marketing ? { marketing: status } : { status }), source: 'provider' as const, occurred_at }
    items.push({
      kind: 'update',
      id,
      change: { consent: { [channel_type]: write } },
      ...(message_id === undefined ? {} : { message_id }),
    })
  }
  await saveContacts(platform, tx, tenant, items, context)
}

/** Rejects with `WriteConflict` when an owner lost its address meanwhile. */
async function lockOwners(
  tx: Transaction,
  tenant: Tenant,
  keys: readonly { kind: string; address: string }[],
): Promise<Map<string, string>> {
  const addresses = await findAddresses(tx, tenant, keys)
  const owners = new Map(addresses.map((row) => [keyText(row), row.contact_id]))
  const locked = new Map((await lockContacts(tx, tenant, [...new Set(owners.values())])).map((row) => [row.id, row]))
  for (const address of addresses) requireOwner(locked.get(address.contact_id), address)
  return owners
}

const consentType = ({ channel_type, marketing }: ProviderConsent): string =>
  marketing ? marketingType(channel_type) : channel_type

/** An older opt-out still counts, unless the last change is the provider's own or an opt-out. */
const isOutdated = ({ status, occurred_at }: ProviderConsent, last: LastConsentChange | undefined): boolean =>
  last !== undefined &&
  Date.parse(occurred_at) < Date.parse(last.occurred_at) &&
  (status !== 'opted_out' || last.source === 'provider' || last.status === 'opted_out')
