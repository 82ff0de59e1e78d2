/** Conformance: callback items are valid. */
import assert from 'node:assert/strict'
import { inboundTypes, messageTypes } from '../../../src/api/resources/channel.ts'
import { messageErrorCodes } from '../../../src/api/resources/message.ts'
import { validateInboundContent } from '../../../src/api/content/validate.ts'
import type { InboundMessage, CallbackItem } from '../../../src/providers/provider.ts'
import { sanitizeItem } from '../../../src/modules/messages/callbacks/sanitize.ts'

const known: readonly string[] = [...messageTypes, ...inboundTypes]

export function assertReport(report: CallbackItem): void {
  const seen = JSON.stringify(report)
  assert.ok(typeof report.provider_id === 'string' && report.provider_id !== '', seen)
  switch (report.kind) {
    case 'delivery_receipt':
      assert.ok(['accept', 'deliver', 'open', 'fail'].includes(report.transition), seen)
      if (report.message_id !== undefined)
        assert.ok(typeof report.message_id === 'string' && report.message_id !== '', seen)
      for (const id of report.also_known_as ?? []) assert.ok(typeof id === 'string' && id !== '', seen)
      if (report.addresses !== undefined)
        assert.ok(typeof report.addresses.from === 'string' && typeof report.addresses.to === 'string', seen)
      if (report.transition === 'fail') assert.ok(report.error !== undefined, seen)
      if (report.error !== undefined) {
        assert.ok(messageErrorCodes.includes(report.error.code), seen)
        assert.ok(typeof report.error.message === 'string' && report.error.message !== '', seen)
        assert.ok(
          report.error.provider_code === null ||
            (typeof report.error.provider_code === 'string' && report.error.provider_code !== ''),
          seen,
        )
      }
      return
    case 'inbound':
      assertInbound(report, seen)
      return
    case 'preference':
      assert.ok(
        typeof report.from === 'string' && report.from !== '' && ['stop', 'resume'].includes(report.marketing),
        seen,
      )
      if (report.occurred_at !== undefined)
        assert.equal(new Date(report.occurred_at).toISOString(), report.occurred_at, seen)
      return
    case 'connection_status':
      assert.ok(typeof report.connected === 'boolean' && report.message !== '', seen)
      return
    case 'templates':
      return
    default:
      assert.fail(`no kind of report: ${seen}`)
  }
}

function assertInbound(report: InboundMessage, seen: string): void {
  assertReadable(report, seen)
  assert.ok(typeof report.from === 'string' && report.from !== '', seen)
  assert.ok(known.includes(report.type), seen)
  assert.ok(typeof report.content === 'object' && report.content !== null, seen)
  assert.ok(report.profile_name === null || typeof report.profile_name === 'string', seen)
  assert.ok(report.reply_to === null || typeof report.reply_to === 'string', seen)
  if (report.part !== undefined)
    assert.ok(report.part.total > 1 && report.part.number >= 1 && report.part.number <= report.part.total, seen)
  if (report.to !== undefined)
    assert.ok(report.to.identifiers.length > 0 && ['ours', 'ignored'].includes(report.to.otherwise), seen)
  for (const { index } of report.media ?? [])
    assert.ok(Array.isArray(report.content) && index >= 0 && index < report.content.length, seen)
}

function assertReadable(report: InboundMessage, seen: string): void {
  const { type, content, media, from, profile_name, reply_to } = sanitizeItem(report) as InboundMessage
  const items =
    type === 'attachments' ? (content as object[]).map((item) => ({ ...item, url: 'https://example.com/' })) : content
  assert.deepEqual(validateInboundContent(type, items), [], seen)
  assert.ok(media === undefined || type === 'attachments', seen)
  for (const text of [from, profile_name ?? '', reply_to ?? ''])
    assert.ok(typeof text === 'string' && text.isWellFormed() && !text.includes('\0'), seen)
}
