/** Examples of properties and parameters for the document, where neither their schema nor `samples.ts` knows a telling one. */
import { exampleId, sample } from './samples.ts'

/** By the name of the property. */
const byName: Readonly<Record<string, unknown>> = {
  scopes: ['messages:read', 'messages:write'],
  reason: 'consent_missing',
  cancel_on: ['order.paid'],
  field: 'data.order.total',
  external_id: 'customer-1042',
  note: 'Invoice 2026-017',
  package_grant_id: exampleId('grant'),
  message: 'Correct the named parameter.',
  provider_code: '131026',
  provider_message: 'Message undeliverable',
  provider: 'carrier',
  campaign_id: exampleId('cmp'),
  campaigns: [exampleId('cmp')],
  code: 'parameter_invalid',
  type: 'order.paid',
  param: 'text.body',
  doc_url: 'https://example.com/docs/errors#parameter_invalid',
  identifier: '+15005550100',
  webhook_url: 'https://example.com/hooks/channels/ch_01m7z10y8texgrjk0p9bvk2cq6',
  verify_token: 'a-word-of-your-own',
  verification_token: 'a-word-of-your-own',
  key: 'plan',
  cells: ['+4915112345678', 'Ada'],
  import_id: exampleId('imp'),
  default_country: 'DE',
  file: 'phone,first_name\n+4915112345678,Ada\n',
  file_name: 'customers.csv',
  description: 'Whoever bought something this year',
  contacts: [exampleId('ct')],
  add: ['customer'],
  remove: ['prospect'],
  not_found: [exampleId('ct')],
  profile_name: 'Ada',
  reply_to: exampleId('msg'),
  automation_url_template: 'https://example.com/automations/new?event_type={event_type}',
  console_url: 'https://example.com/sources/src_01m7z10y8texgrjk0p9bvk2cq6',
  platform_version: '9.4.1',
  plugin_version: '1.2.0',
  signing_secret: 'Zm9yLWRvY3VtZW50YXRpb24tb25seQ',
  source_key: 'svc_src_Zm9yLWRvY3VtZW50YXRpb24tb25seQ',
  source: exampleId('src'),
  category: 'UTILITY',
  language: 'en_US',
  parameter_format: 'POSITIONAL',
  rejected_reason: 'INVALID_FORMAT',
  error: 'status_500',
  error_message: 'The endpoint answered 500.',
  event_type: 'order.paid',
  next_cursor: exampleId('msg'),
  tag: 'customer',
  list: exampleId('lst'),
  segment: exampleId('seg'),
  consent: 'sms:opted_in',
  query: 'Ada',
  object_id: exampleId('msg'),
  automation: exampleId('aut'),
}

/** What the document shows as the value of a property or parameter. */
export function propertyExample(name: string, schema: object): unknown {
  const value = sample(schema, name)
  const telling = [value].flat()[0]
  return (telling === 'string' || telling === undefined) && Object.hasOwn(byName, name) ? byName[name] : value
}
