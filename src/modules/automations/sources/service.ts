/** Integration sources, which report events with their own key and secret (behaviour: integrations 1). */
import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Caller, Tenant } from '../../../api/caller.ts'
import { isId } from '../../../api/ids.ts'
import { missing, Problem } from '../../../api/problem.ts'
import type {
  IntegrationSource,
  IntegrationSourceWithSecrets,
  OwnSourceChange,
  SourceChange,
  SourceUpsert,
} from '../../../api/resources/integration-source.ts'
import { isoTime } from '../../../lib/clock.ts'
import { keyHash, newKey } from '../../accounts/service.ts'
import { enabledEventsOf } from '../repository.ts'
import type { Cancellation } from '../runs/cancellation.ts'
import * as repository from './repository.ts'
import { sourceObject, type SourceRow } from './source.ts'
import { type Db, transact, type Transaction } from '../../../platform/database/sql.ts'
import { type Page, requireCursor } from '../../../platform/http/paging.ts'
import type { StoreAnswer } from '../../../platform/http/route.ts'
import type { Platform } from '../../../platform/platform.ts'

/** Per account and mode (behaviour: integrations 1.3). */
const sourcesMax = 50
const nameLengthMax = 120

export interface SourceHooks {
  readonly forgetKeys: () => void
  readonly cancellation: (
    tenant: Tenant,
    source_id: string,
    reason: 'source_disabled' | 'source_deleted',
  ) => Cancellation
  readonly removed: (tx: Transaction, tenant: Tenant, source_id: string) => Promise<void>
}

export class SourceService {
  readonly #platform: Platform
  readonly #hooks: SourceHooks

  constructor(platform: Platform, hooks: SourceHooks) {
    this.#platform = platform
    this.#hooks = hooks
  }

  /**
   * Matches by `platform` and `external_id`; secrets are shown at creation only. A disabled source stays disabled.
   * Refusals: integration_source_limit_reached.
   */
  async upsert(
    sql: Db,
    caller: Caller,
    input: SourceUpsert,
  ): Promise<IntegrationSource | IntegrationSourceWithSecrets> {
    const platform = input.platform.toLowerCase()
    return await transact(sql, async (tx) => {
      await repository.lockSources(tx, caller)
      const existing = await repository.lockSourceOfPlatform(tx, caller, platform, input.external_id)
      if (existing !== null) return await this.#shown(tx, await write(tx, existing, changed(existing, input)))
      if ((await repository.countSources(tx, caller)) >= sourcesMax)
        throw new Problem(
          'integration_source_limit_reached',
          `This account has ${sourcesMax} integration sources in ${caller.mode} mode, which is the limit. Delete one that is no longer used.`,
        )
      const made = newSource(this.#platform, caller, { ...input, platform })
      await repository.insertSource(tx, made.row)
      return { ...sourceObject(this.#platform.settings.base_url, made.row, []), ...made.secrets }
    })
  }

  async list(sql: Db, tenant: Tenant, page: Page): Promise<IntegrationSource[]> {
    const existed = async (id: string) => isId('src', id) && (await repository.sourceExisted(sql, tenant, id))
    await requireCursor(page.starting_after, 'No integration source has the id', existed)
    const rows = await repository.listSources(sql, tenant, page)
    const enabled = await enabledEventsOf(
      sql,
      tenant,
      rows.map(({ id }) => id),
    )
    const { base_url } = this.#platform.settings
    return rows.map((row) =>
      sourceObject(
        base_url,
        row,
        enabled.filter(({ source_id }) => source_id === row.id),
      ),
    )
  }

  async get(sql: Db, tenant: Tenant, id: string): Promise<IntegrationSource> {
    const row = isId('src', id) ? await repository.findSource(sql, tenant, id) : null
    if (row === null) throw missing('integration source', id)
    return await this.#shown(sql, row)
  }

  /** Disabling cancels waiting runs. */
  async update(
    sql: Db,
    tenant: Tenant,
    id: string,
    change: SourceChange | OwnSourceChange,
  ): Promise<IntegrationSource> {
    if (!isId('src', id)) throw missing('integration source', id)
    const cancellation =
      'status' in change && change.status === 'disabled'
        ? this.#hooks.cancellation(tenant, id, 'source_disabled')
        : null
    await cancellation?.before(sql)
    const shown = await transact(sql, async (tx) => {
      const before = await lock(tx, tenant, id)
      const after = await write(tx, before, this.#withSecret(changed(before, change), change))
      await cancellation?.within(tx)
      return await this.#shown(tx, after)
    })
    this.#hooks.forgetKeys()
    return shown
  }

  /** Also deletes its automations and receipts, and cancels waiting runs. Its key stops at once. */
  async remove(sql: Db, tenant: Tenant, id: string): Promise<void> {
    if (!isId('src', id)) throw missing('integration source', id)
    const cancellation = this.#hooks.cancellation(tenant, id, 'source_deleted')
    await cancellation.before(sql)
    await transact(sql, async (tx) => {
      await lock(tx, tenant, id)
      await cancellation.within(tx)
      await this.#hooks.removed(tx, tenant, id)
      await repository.deleteSource(tx, tenant, id, isoTime(this.#platform.clock.now()))
    })
    this.#hooks.forgetKeys()
  }

  /** The old key and secret stop at once. */
  async rollKey(
    sql: Db,
    tenant: Tenant,
    id: string,
    keep: StoreAnswer<IntegrationSourceWithSecrets>,
  ): Promise<IntegrationSourceWithSecrets> {
    const rolled = await transact(sql, async (tx) => {
      const before = await lock(tx, tenant, id)
      const secrets = newSecrets()
      const after = await write(tx, before, {
        ...before,
        key_hash: keyHash(secrets.source_key),
        signing_secret: this.#platform.secrets.seal(secrets.signing_secret),
      })
      const shown = { ...(await this.#shown(tx, after)), ...secrets }
      await keep(tx, shown)
      return shown
    })
    this.#hooks.forgetKeys()
    return rolled
  }

  async #shown(sql: Db, row: SourceRow): Promise<IntegrationSource> {
    return sourceObject(this.#platform.settings.base_url, row, await enabledEventsOf(sql, row, [row.id]))
  }

  #withSecret(row: SourceRow, { signing_secret }: SourceChange): SourceRow {
    if (signing_secret === undefined) return row
    const { secrets } = this.#platform
    return secrets.open(row.signing_secret) === signing_secret
      ? row
      : { ...row, signing_secret: secrets.seal(signing_secret) }
  }
}

async function lock(sql: Db, tenant: Tenant, id: string): Promise<SourceRow> {
  const row = isId('src', id) ? await repository.lockSource(sql, tenant, id) : null
  if (row === null) throw missing('integration source', id)
  return row
}

function changed(row: SourceRow, change: SourceChange): SourceRow {
  const { name, url, plugin_version, platform_version, emits, status, settings } = change
  return {
    ...row,
    name: name ?? row.name,
    url: url === undefined ? row.url : url,
    plugin_version: plugin_version === undefined ? row.plugin_version : plugin_version,
    platform_version: platform_version === undefined ? row.platform_version : platform_version,
    emits: emits === undefined ? row.emits : [...new Set(emits)],
    status: status ?? row.status,
    contact_sync: settings?.contact_sync ?? row.contact_sync,
    consent_mode: settings?.consent_mode ?? row.consent_mode,
    store_all_events: settings?.store_all_events ?? row.store_all_events,
  }
}

async function write(sql: Db, before: SourceRow, after: SourceRow): Promise<SourceRow> {
  if (isDeepStrictEqual(before, after)) return before
  const written = { ...after, config_version: before.config_version + 1 }
  await repository.updateSource(sql, written)
  return written
}

function newSource(
  platform: Platform,
  caller: Caller,
  input: SourceUpsert,
): { row: SourceRow; secrets: ReturnType<typeof newSecrets> } {
  const secrets = newSecrets()
  const row: SourceRow = {
    account_id: caller.account_id,
    mode: caller.mode,
    id: platform.ids('src'),
    platform: input.platform,
    external_id: input.external_id,
    name: input.name ?? [...`${input.platform} ${input.external_id}`].slice(0, nameLengthMax).join(''),
    url: input.url ?? null,
    status: 'active',
    plugin_version: input.plugin_version ?? null,
    platform_version: input.platform_version ?? null,
    emits: [...new Set(input.emits ?? [])],
    contact_sync: true,
    consent_mode: 'implied',
    store_all_events: false,
    config_version: 1,
    key_hash: keyHash(secrets.source_key),
    signing_secret: platform.secrets.seal(secrets.signing_secret),
    last_event_at: null,
    created_at: isoTime(platform.clock.now()),
  }
  return { row, secrets }
}

/** The prefix of webhook secrets, which are used in the same way. */
const newSecrets = () => ({ source_key: newKey('src'), signing_secret: `whsec_${randomBytes(32).toString('base64')}` })
