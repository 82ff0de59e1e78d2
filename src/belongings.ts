/** Every table, by whose rows it holds: what a backup takes along, and what belongs to an account. A law holds it complete. */

/**
 * `account`: its column `account_id` names whose it is. `parent`: its row belongs to a row of another table. `installation`: it belongs to no account. `process`: what running
 * processes know of each other, which means nothing anywhere else.
 */
export type Belonging =
  | { readonly to: 'account' | 'installation' | 'process' }
  | { readonly to: 'parent'; readonly column: string; readonly parent: string; readonly key: string }

const account = { to: 'account' } as const
const installation = { to: 'installation' } as const
const process = { to: 'process' } as const
const parent = (column: string, table: string, key = 'id') => ({ to: 'parent', column, parent: table, key }) as const

export const belongings: Readonly<Record<string, Belonging>> = {
  accounts: account,
  api_keys: account,
  audit_entries: account,
  automation_events: account,
  automation_runs: account,
  automations: account,
  campaign_counters: account,
  campaign_jobs: account,
  campaign_recipients: account,
  campaign_tombstones: account,
  campaigns: account,
  channel_leases: process,
  channel_pauses: account,
  channel_sessions: process,
  channel_templates: account,
  channels: account,
  consent_changes: account,
  contact_addresses: account,
  contact_attributes: account,
  contact_counters: account,
  contact_import_errors: account,
  contact_import_jobs: account,
  contact_import_chunks: parent('import_id', 'contact_imports'),
  contact_imports: account,
  contact_list_members: account,
  contact_lists: account,
  contact_tags: account,
  contact_tombstones: account,
  contacts: account,
  conversation_messages: account,
  conversations: account,
  dispatch_jobs: account,
  email_queue: installation,
  emails: installation,
  events: account,
  grants: account,
  idempotency_keys: account,
  identities: installation,
  inbound_parts: account,
  inbound_references: account,
  installation,
  integration_redactions: account,
  integration_sources: account,
  invitations: installation,
  ledger_entries: account,
  media_files: account,
  memberships: installation,
  message_attempts: account,
  message_quarter_counts: account,
  message_retention: installation,
  message_status_counts: account,
  message_transitions: account,
  messages: account,
  prices: account,
  processes: process,
  provider_callbacks: parent('channel_id', 'channels'),
  provider_references: account,
  provider_reports: account,
  request_log: account,
  schema_functions: process,
  schema_migrations: process,
  segments: account,
  service_windows: account,
  sessions: installation,
  sign_in_failures: installation,
  suppressions: account,
  top_ups: account,
  usage_rows: account,
  user_tokens: installation,
  users: installation,
  wallets: account,
  webhook_deliveries: account,
  webhook_endpoints: account,
  webhook_failures: account,
  webhook_fan_out: installation,
  webhook_handoff_counts: installation,
  webhook_handoffs: installation,
  webhook_leases: parent('endpoint_id', 'webhook_endpoints'),
  webhook_queue: account,
  webhook_retries: account,
  webhook_subscriptions: account,
}

/** Tables whose rows are found by hashes of addresses, under the key of the installation. */
export const foundByHash: readonly string[] = ['suppressions']

/** Whether a backup of the whole takes it along. A table that this version does not know is one of a version before. */
export const isCarried = (table: string): boolean => belongings[table]?.to !== 'process'

/** The column that names the account of a row. */
export const accountColumn = (table: string): string => (table === 'accounts' ? 'id' : 'account_id')

/** The condition of the rows of an account; undefined for a table that belongs to none. Throws for an id that is none of ours, since it stands in SQL. */
export function ownedBy(table: string, account_id: string): string | undefined {
  const whose = belongings[table]
  if (whose === undefined) throw new Error(`nobody says whose rows ${table} holds`)
  if (!/^acc_[a-z0-9]+$/.test(account_id)) throw new Error('not the id of an account')
  if (whose.to === 'account') return `${accountColumn(table)} = '${account_id}'`
  if (whose.to === 'parent')
    return `${whose.column} in (select ${whose.key} from ${whose.parent} where ${accountColumn(whose.parent)} = '${account_id}')`
  return undefined
}
