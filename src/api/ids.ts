/** The text after the prefix is a UUIDv7 as 26 characters of lower-case Crockford base32 (behaviour: conventions 2). */

export const idPrefixes = {
  account: 'acc',
  api_key: 'key',
  message: 'msg',
  message_event: 'mev',
  message_attempt: 'att',
  channel: 'ch',
  webhook_endpoint: 'we',
  webhook_delivery: 'whd',
  event: 'evt',
  campaign: 'cmp',
  contact_list: 'lst',
  contact: 'ct',
  segment: 'seg',
  contact_import: 'imp',
  integration_source: 'src',
  automation: 'aut',
  automation_event: 'aev',
  automation_run: 'run',
  template: 'tpl',
  package: 'grant',
  ledger_entry: 'txn',
  top_up: 'top',
  user: 'usr',
  session: 'ses',
  invitation: 'inv',
  identity: 'idn',
  audit_entry: 'aud',
  request: 'req',
  consent_change: 'cns',
  media_file: 'med',
  conversation: 'cnv',
} as const

export type IdKind = keyof typeof idPrefixes
export type IdPrefix = (typeof idPrefixes)[IdKind]
export type Id<P extends IdPrefix> = `${P}_${string}`

const tail = '[0-7][0-9a-hjkmnp-tv-z]{25}'
const shapes = new Map<string, RegExp>(
  Object.values(idPrefixes).map((prefix) => [prefix, new RegExp(`^${prefix}_${tail}$`)]),
)

/** Checks the shape; sandbox channel ids (`ch_test_<type>`) count as channel ids. */
export function isId<P extends IdPrefix>(prefix: P, text: unknown): text is Id<P> {
  if (typeof text !== 'string') return false
  return shapes.get(prefix)!.test(text) || (prefix === 'ch' && /^ch_test_[a-z]{1,20}$/.test(text))
}
