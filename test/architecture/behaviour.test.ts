/** The behaviour reference names every code and limit of the code. */
import assert from 'node:assert/strict'
import { basename } from 'node:path'
import test from 'node:test'
import { settingsTable } from '../../src/config/config.ts'
import { contentTypes } from '../../src/api/content/registry.ts'
import { detailCodes } from '../../src/api/errors.ts'
import { eventTypes } from '../../src/api/events.ts'
import { idPrefixes } from '../../src/api/ids.ts'
import { limits } from '../../src/api/limits.ts'
import { automationEventTypes, receiptReasons, receiptStatuses } from '../../src/api/resources/automation-event.ts'
import { transactionTypes } from '../../src/api/resources/balance-transaction.ts'
import { campaignStatuses, failureReasons, pauseReasons, skipReasons } from '../../src/api/resources/campaign.ts'
import { channelTypes, reservedChannelTypes } from '../../src/api/resources/channel.ts'
import { consentSources, consentStatuses, contactLimits } from '../../src/api/resources/contact.ts'
import { attemptOutcomes, messageErrorCodes, messageStatuses, priorities } from '../../src/api/resources/message.ts'
import { usageGroups } from '../../src/api/resources/usage.ts'
import { scopes } from '../../src/api/scopes.ts'
import { ruleOperators } from '../../src/api/resources/rules.ts'
import { openapiText } from '../../src/openapi.ts'
import { sources } from './sources.ts'

const pages = new Map(sources('docs/reference/behaviour/*.md').map(({ path, text }) => [basename(path, '.md'), text]))
const marked = (page: string, words: readonly string[]): string[] =>
  words.filter((word) => !pages.get(page)!.includes(`\`${word}\``)).map((word) => `${page}: ${word}`)

test('every value of a catalogue is on its page', () => {
  const missing = [
    ...marked('conventions', [...detailCodes, ...Object.values(idPrefixes).map((prefix) => `${prefix}_`)]),
    ...marked('authentication', scopes),
    ...marked('messages', [...messageStatuses, ...messageErrorCodes, ...priorities, ...attemptOutcomes]),
    ...marked('content', Object.keys(contentTypes)),
    ...marked('channels', [...channelTypes, ...reservedChannelTypes]),
    ...marked('billing', [...transactionTypes, ...usageGroups]),
    ...marked('webhooks', Object.keys(eventTypes)),
    ...marked('contacts', consentSources),
    ...marked('consent', consentStatuses),
    ...marked('segments', ruleOperators),
    ...marked('integrations', [...automationEventTypes, ...receiptStatuses, ...receiptReasons]),
    ...marked('campaigns', [...campaignStatuses, ...pauseReasons, ...failureReasons, ...skipReasons]),
  ]

  assert.deepEqual(missing, [])
})

test('every error code and every limit setting is mentioned', () => {
  const all = [...pages.values()].join('\n')
  const codes = new Set<string>()
  const document = JSON.parse(openapiText(), (key, value: unknown) => {
    if (key === 'x-codes') for (const code of value as string[]) codes.add(code)
    return value
  }) as { paths: object }
  const bounds = Object.keys(settingsTable).filter((name) =>
    /_(LIMIT|MESSAGES|DEFAULT|MAX_BYTES|TIMEOUT_MS|DISABLE_AFTER|RETRY_DELAYS|KEYWORDS)$/.test(name),
  )

  // the limit of campaigns is a setting
  const missing = [...codes, ...bounds].filter(
    (word) => word !== 'POSTHORN_CAMPAIGN_RECIPIENT_LIMIT' && !all.includes(`\`${word}\``),
  )

  assert.deepEqual(missing, [])
  assert.ok(codes.size > 20 && Object.keys(document.paths).length > 30)
})

const figures: readonly (readonly [page: string, words: string])[] = [
  ['conventions', `up to ${limits.body_bytes / 1024 ** 2} MB`],
  ['conventions', `deeper than ${limits.json_depth} levels`],
  ['conventions', `lists at most ${limits.error_details_max}`],
  ['conventions', `\`limit\` is 1 to ${limits.page_max}, by default ${limits.page_default}`],
  ['conventions', `up to ${limits.metadata_bytes_max / 1024} KB`],
  [
    'conventions',
    `${settingsTable.POSTHORN_RATE_LIMIT_MESSAGES.fallback} requests a second on \`POST /v1/messages\`, ${settingsTable.POSTHORN_RATE_LIMIT_DEFAULT.fallback} on`,
  ],
  ['authentication', `at most ${limits.keys_per_account_max} keys`],
  ['idempotency', `1 to ${limits.idempotency_key_length_max} characters`],
  ['idempotency', `stored for ${limits.idempotency_window_ms / 3600_000} hours`],
  ['messages', `1 to ${limits.batch_messages_max} items`],
  ['messages', `up to ${limits.reference_length_max} characters`],
  ['messages', `up to ${limits.send_at_ahead_ms_max / 86_400_000} days ahead`],
  ['messages', `${limits.expires_in_seconds_min} to ${limits.expires_in_seconds_max}`],
  ['messages', `valid for ${limits.message_validity_ms / 3600_000} hours`],
  ['operating', `silent for ${limits.process_silent_ms / 1000} is presumed dead`],
  ['operating', `at most ${limits.cache_ms / 1000} seconds old`],
  ['channels', `up to ${limits.callback_body_bytes / 1024 ** 2} MB`],
  ['webhooks', `stored for ${settingsTable.POSTHORN_EVENT_RETENTION_DAYS.fallback} days`],
  ['webhooks', `at most ${settingsTable.POSTHORN_WEBHOOK_ENDPOINT_LIMIT.fallback} endpoints`],
  ['webhooks', `At ${settingsTable.POSTHORN_WEBHOOK_DISABLE_AFTER.fallback} (a setting)`],
  ['contacts', `at most ${contactLimits.tags_max}`],
  ['contacts', `1 to ${contactLimits.tag_length_max} characters`],
  ['contacts', `1 to ${contactLimits.bulk_max} ids`],
  ['contacts', `at most ${contactLimits.attributes_max}`],
]

test('documented limits equal those of the code', () => {
  const wrong = figures.filter(([page, words]) => !pages.get(page)!.includes(words))

  assert.deepEqual(wrong, [])
})
