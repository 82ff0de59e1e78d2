import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { consentSources, consentStatuses, contactLimits } from '../../api/resources/contact.ts'
import {
  type ContactRow,
  addressesOf,
  applyChange,
  foldText,
  labelsOf,
  newContact,
  statusOf,
  type ContactChange,
} from './contact.ts'
import { readContact } from './contact-input.ts'

const at = '2026-01-31T09:30:00.000Z'
const later = '2026-01-31T10:00:00.000Z'
const tenant = { account_id: 'acc_1', mode: 'live' as const }
const context = { at, source: 'api' as const }

const word = fc.constantFrom('vip', 'VIP', 'Vip', 'beta', 'Straße', 'STRASSE', 'É', 'é', 'e\u0301', 'x')
const tags = fc.array(word, { maxLength: 8 })
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })
const consent = fc.dictionary(
  fc.constantFrom('sms', 'whatsapp', 'telegram'),
  maybe(
    fc.record(
      {
        status: fc.constantFrom(...consentStatuses),
        source: fc.constantFrom(...consentSources),
        occurred_at: fc.constantFrom(at, later),
        marketing: fc.constantFrom(...consentStatuses),
      },
      { requiredKeys: [] },
    ),
  ),
)
const change: fc.Arbitrary<ContactChange> = fc.record(
  {
    phone: maybe(fc.constantFrom('+4915112345678', '+551187654321', '+5511987654321')),
    email: maybe(fc.constantFrom('a@b.cd', 'A@b.cd')),
    first_name: maybe(fc.constantFrom('Ada', 'Bob')),
    last_name: maybe(fc.constantFrom('L', 'Ö')),
    blocked: fc.boolean(),
    identifiers: fc.dictionary(fc.constantFrom('telegram', 'viber'), maybe(fc.constantFrom('1', '2'))),
    attributes: fc.dictionary(fc.constantFrom('a', 'b'), maybe(fc.oneof(fc.string(), fc.integer(), fc.boolean()))),
    consent,
    tags,
    add_tags: tags,
    remove_tags: tags,
  },
  { requiredKeys: [] },
)
const grown = (changes: readonly ContactChange[]): ContactRow =>
  changes.reduce((row, one) => applyChange(row, one, context).row, newContact(tenant, 'ct_1', at))

test('tags stay sorted and unique ignoring case, and keep their spelling', () => {
  fc.assert(
    fc.property(fc.array(change), change, (before, one) => {
      const row = grown(before)
      const next = applyChange(row, one, context).row
      assert.deepEqual(next.tags, [...next.tags].sort())
      assert.equal(new Set(next.tags.map(foldText)).size, next.tags.length)
      for (const tag of row.tags)
        for (const kept of next.tags) if (foldText(tag) === foldText(kept)) assert.equal(kept, tag)
    }),
  )
})

test('applying a change twice is the same as once', () => {
  fc.assert(
    fc.property(fc.array(change), change, (before, one) => {
      const once = applyChange(grown(before), one, context).row
      const twice = applyChange(once, one, { ...context, at: later })
      assert.equal(twice.row, once)
      assert.deepEqual(twice.transitions, [])
    }),
  )
})

test('fields that a change does not name stay', () => {
  fc.assert(
    fc.property(
      fc.array(change),
      change,
      fc.subarray([
        'phone',
        'email',
        'first_name',
        'last_name',
        'blocked',
        'identifiers',
        'attributes',
        'consent',
      ] as const),
      (before, one, dropped) => {
        const row = grown(before)
        const partial = Object.fromEntries(
          Object.entries(one).filter(([field]) => !dropped.includes(field as never)),
        ) as ContactChange
        const next = applyChange(row, partial, context).row
        for (const field of dropped) assert.deepEqual(next[field], row[field])
      },
    ),
  )
})

test('every change of a consent is reported, and an opt-out changes only when its channel type is named', () => {
  fc.assert(
    fc.property(fc.array(change), change, (before, one) => {
      const row = grown(before)
      const { row: next, transitions } = applyChange(row, one, context)
      for (const type of ['sms', 'whatsapp', 'telegram', 'whatsapp.marketing']) {
        const last = transitions.filter((one) => one.channel_type === type).at(-1)
        assert.equal(statusOf(next.consent, type), last?.status ?? statusOf(row.consent, type))
        if (!Object.hasOwn(one.consent ?? {}, type.split('.')[0]!)) assert.equal(last, undefined)
      }
    }),
  )
})

test('labels and addresses follow from the contact', () => {
  fc.assert(
    fc.property(fc.array(change), (changes) => {
      const row = grown(changes)
      assert.equal(labelsOf(row).filter((label) => label.startsWith('t:')).length, row.tags.length)
      assert.equal(addressesOf(row).length, Object.keys(row.identifiers).length + (row.phone === null ? 0 : 1))
      if (row.phone?.startsWith('+55') === true) assert.equal(row.phone_key, '+5511987654321')
    }),
  )
})

test('any body gives either a change or named failures', () => {
  const json = fc.jsonValue() as fc.Arbitrary<never>
  const body = fc.record(
    {
      phone: maybe(fc.string()),
      email: maybe(fc.string()),
      first_name: maybe(fc.string()),
      locale: maybe(fc.string()),
      timezone: maybe(fc.string()),
      identifiers: fc.dictionary(fc.string(), json),
      consent: fc.dictionary(fc.constantFrom('sms', 'x', '__proto__'), json),
      attributes: fc.dictionary(fc.string(), json),
      tags: fc.array(fc.string({ maxLength: 70 })),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(body, (given) => {
      const { change: read, failures } = readContact(given, { at })
      for (const failure of failures) assert.ok(failure.param !== '' && failure.message !== '')
      if (failures.length > 0) return
      const { row } = applyChange(newContact(tenant, 'ct_1', at), read, context)
      assert.ok(row.tags.length <= contactLimits.tags_max || (given.tags?.length ?? 0) > contactLimits.tags_max)
      JSON.stringify(row)
    }),
  )
})
