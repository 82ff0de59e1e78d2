/** Example values of schemas: the schema's own example, otherwise the simplest valid value. */
import { Message } from '../api/resources/message.ts'
import type { Schema } from './schema.ts'

const tail = '01m7z10y8texgrjk0p9bvk2cq6'
export const exampleId = (prefix: string): string => `${prefix}_${tail}`

const moment = '2026-01-31T09:30:00.000Z'

/** By field name. */
const byName: Readonly<Record<string, unknown>> = {
  to: '+15005550006',
  from: '+15005550100',
  phone: '+14155550123',
  email: 'ada@example.com',
  channel: 'ch_test_whatsapp',
  channel_id: 'ch_test_whatsapp',
  channel_type: 'whatsapp',
  currency: 'USD',
  timezone: 'Europe/Berlin',
  url: 'https://example.com/hooks/posthorn',
  name: 'Example',
  mode: 'test',
  first_name: 'Ada',
  last_name: 'Lovelace',
  full_name: 'Ada Lovelace',
  locale: 'en',
  country: 'US',
  tags: ['customer'],
  reference: 'order-1042',
  request_id: `req_${tail}`,
  account_id: `acc_${tail}`,
  contact_id: `ct_${tail}`,
  message_id: `msg_${tail}`,
  event_id: `evt_${tail}`,
  source_id: `src_${tail}`,
  automation_id: `aut_${tail}`,
  automation_event_id: `aev_${tail}`,
  scheduled_for: moment,
  endpoint_id: `we_${tail}`,
  list_id: `lst_${tail}`,
  segment_id: `seg_${tail}`,
  package_grant_id: null,
  secret: 'whsec_Zm9yLWRvY3VtZW50YXRpb24tb25seS0tLS0tLS0tLS0=',
  events: ['message.delivered', 'message.failed'],
  content: { text: { body: 'Your parcel is on its way.' } },
  text: { body: 'Your parcel is on its way.' },
  metadata: {},
  attributes: { plan: 'pro' },
  identifiers: {},
  period_start: '2026-01-31',
  period_end: '2026-01-31',
  rules: { match: 'all', conditions: [{ field: 'tags', operator: 'contains_any', value: ['customer'] }] },
}
const idByObject: Readonly<Record<string, string>> = {
  message: 'msg',
  channel: 'ch',
  webhook_endpoint: 'we',
  webhook_delivery: 'whd',
  event: 'evt',
  contact: 'ct',
  contact_list: 'lst',
  segment: 'seg',
  contact_import: 'imp',
  package: 'grant',
  balance_transaction: 'txn',
  account: 'acc',
  template: 'tpl',
  message_event: 'mev',
  message_attempt: 'att',
  campaign: 'cmp',
  integration_source: 'src',
  automation: 'aut',
  automation_event: 'aev',
  automation_run: 'run',
}

export function sample(schema: unknown, name = '', required = false): unknown {
  const typedSchema = schema as Schema
  if (typedSchema.examples?.[0] !== undefined) return typedSchema.examples[0]
  if (typedSchema.const !== undefined) return typedSchema.const
  if (typedSchema.properties !== undefined) return sampleObject(typedSchema, required)
  const types = typedSchema.type === undefined ? [] : [typedSchema.type].flat()
  if (typedSchema.format !== 'date' && Object.hasOwn(byName, name) && fits(byName[name], types)) return byName[name]
  if (typedSchema.default !== undefined) return typedSchema.default
  if (typedSchema.enum !== undefined) return typedSchema.enum[0]
  const variant = (typedSchema.anyOf ?? typedSchema.oneOf ?? typedSchema.allOf)?.[0]
  if (variant !== undefined) return sample(variant, name, required)
  if (types.includes('null')) return name === 'created_at' || name === 'updated_at' ? moment : null
  return plainest(typedSchema, types[0], name)
}

/** `required`: only required fields. */
function sampleObject(schema: Schema, required: boolean): Record<string, unknown> {
  const names = Object.keys(schema.properties!).filter((name) => !required || (schema.required ?? []).includes(name))
  const value = Object.fromEntries(names.map((name) => [name, sample(schema.properties![name], name, required)]))
  const prefix = idByObject[String(value['object'])]
  if (prefix !== undefined && typeof value['id'] === 'string') value['id'] = `${prefix}_${tail}`
  return value
}

const fits = (value: unknown, types: readonly string[]): boolean =>
  types.length === 0 ||
  types.includes(value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value) ||
  (typeof value === 'number' && types.includes('integer'))

function plainest(schema: Schema, type: string | undefined, name: string): unknown {
  if (type === 'integer' || type === 'number') return schema.minimum ?? 0
  if (type === 'boolean') return false
  if (type === 'array') return schema.items === undefined ? [] : [sample(schema.items, name.replace(/s$/, ''))]
  if (type === 'object') return name === 'object' ? sample(Message) : {} // `data.object` of any event
  if (schema.format === 'date') return '2026-01-31'
  if (/_at$|^date|_after$|_before$/.test(name) || schema.format?.startsWith('date-time') === true) return moment
  if (name === 'id') return tail
  return 'string'
}
