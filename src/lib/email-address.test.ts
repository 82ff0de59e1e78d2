/** E-mail addresses. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isEmailAddress, normalizedEmail } from './email-address.ts'

test('plain addresses are accepted, also with tags, dots and letters of other scripts', () => {
  for (const email of [
    'ada@example.com',
    'ada.lovelace+console@mail.example.co.uk',
    "o'brien@example.ie",
    'x@xn--bcher-kva.example',
    'jörg@bücher.example',
    `${'a'.repeat(64)}@example.com`,
  ])
    assert.equal(isEmailAddress(email), true, email)
})

test('anything that a mail program could read as another address, or as several, is refused', () => {
  for (const email of [
    '',
    'ada',
    '@example.com',
    'ada@',
    'ada@localhost',
    'ada@example.c',
    'ada@192.0.2.1',
    'ada@[192.0.2.1]',
    'eve@example.com,ada@example.com',
    'eve,ada@example.com',
    'eve;ada@example.com',
    'friends:ada@example.com;',
    'Ada <ada@example.com>',
    '"ada lovelace"@example.com',
    'ada(comment)@example.com',
    'ada@example.com\r\nBcc: eve@example.com',
    'ada@exa mple.com',
    '.ada@example.com',
    'ada..l@example.com',
    'ada@-example.com',
    'ada@example-.com',
    'ada@example..com',
    'ada@eve@example.com',
    'ada@example.com\0',
    'ada\\@example.com',
    `${'a'.repeat(65)}@example.com`,
    `ada@${'a'.repeat(64)}.com`,
    `ada@${'a.'.repeat(130)}com`,
  ])
    assert.equal(isEmailAddress(email), false, email)
})

test('spellings of one address become one', () => {
  assert.equal(normalizedEmail(' Ada@Example.COM '), 'ada@example.com')
  assert.equal(normalizedEmail('jo\u0308rg@example.com'), 'jörg@example.com')
})
