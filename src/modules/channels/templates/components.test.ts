import assert from 'node:assert/strict'
import { test } from 'node:test'
import { misfitOf, type WrittenComponent } from './validation.ts'

type Parts = Parameters<typeof misfitOf>[0]['components']

const body = { type: 'BODY', text: 'Hello' }
const text = (words = 'Ada', more: object = {}) => ({ type: 'text', text: words, ...more })
const header = (...parameters: unknown[]): WrittenComponent => ({ type: 'header', parameters })
const bodyOf = (...parameters: unknown[]): WrittenComponent => ({ type: 'body', parameters })
const button = (sub_type: unknown, index: unknown, ...parameters: unknown[]): WrittenComponent => ({
  type: 'button',
  sub_type,
  index,
  parameters,
})
const fits = (parts: Parts, written: readonly WrittenComponent[], parameter_format = 'POSITIONAL') =>
  misfitOf({ parameter_format, components: parts }, written) === null

test('named blanks are filled by name, numbered ones in order', () => {
  const named: Parts = [
    { type: 'HEADER', format: 'TEXT', text: 'For {{shop}}' },
    { type: 'BODY', text: 'Hi {{first_name}}, {{order}}, {{first_name}}' },
  ]
  const by = (parameter_name: string) => text('{{contact.first_name}}', { parameter_name })
  const shop = header(by('shop'))

  assert.ok(fits(named, [shop, bodyOf(by('order'), by('first_name'))], 'NAMED'))
  for (const wrong of [
    bodyOf(text(), text()),
    bodyOf(by('order'), by('name')),
    bodyOf(by('order'), by('order')),
    bodyOf(by('order'), text()),
    bodyOf(by('order')),
  ])
    assert.ok(!fits(named, [shop, wrong], 'NAMED'), JSON.stringify(wrong))
  assert.ok(!fits(named, [header(text()), bodyOf(by('order'), by('first_name'))], 'NAMED'))

  const numbered: Parts = [{ type: 'BODY', text: 'Hi {{1}}, {{2}}' }]
  assert.ok(fits(numbered, [bodyOf(text(), text('B', { parameter_name: null }))]))
  assert.ok(!fits(numbered, [bodyOf(text(), by('order'))]))
})

test('a header with a file or a location needs one', () => {
  for (const type of ['image', 'video', 'document']) {
    const parts: Parts = [{ type: 'HEADER', format: type.toUpperCase() }, body]
    const given = [{ link: 'https://example.com/{{code}}' }, { id: '1' }].map((file) => ({ type, [type]: file }))
    for (const one of [...given, { type, url: 'https://example.com/a' }, { type: type.toUpperCase(), id: 1 }])
      assert.ok(fits(parts, [header(one)]), JSON.stringify(one))
    for (const one of [
      [],
      [header()],
      [{ type: 'header' }],
      [header(text())],
      [header({ type })],
      [header({ type, [type]: {} })],
      [header({ type: 'sticker', id: '1' })],
    ])
      assert.ok(!fits(parts, one), JSON.stringify(one))
  }
  const place: Parts = [{ type: 'HEADER', format: 'LOCATION' }, body]
  assert.ok(fits(place, [header({ type: 'location', location: { latitude: 0, longitude: '{{lon}}' } })]))
  assert.ok(fits(place, [header({ type: 'location', latitude: '1', longitude: '2' })]))
  for (const one of [[], [header(text())], [header({ type: 'location' })]])
    assert.ok(!fits(place, one), JSON.stringify(one))
})

test('a text header takes as many parameters as it has blanks', () => {
  const withBlank: Parts = [{ type: 'HEADER', format: 'TEXT', text: 'For {{1}}' }, body]
  const without: Parts = [{ type: 'HEADER', format: 'TEXT', text: 'News' }, body]

  assert.deepEqual(
    [fits(withBlank, [header(text())]), fits(withBlank, []), fits(withBlank, [header(text(), text())])],
    [true, false, false],
  )
  for (const parts of [without, [body]])
    assert.deepEqual(
      [
        fits(parts, []),
        fits(parts, [header()]),
        fits(parts, [header(text())]),
        fits(parts, [header({ type: 'image', id: '1' })]),
      ],
      [true, true, false, false],
    )
})

test('a button whose URL has a blank needs its parameter, at its own index', () => {
  const parts: Parts = [
    body,
    {
      type: 'BUTTONS',
      buttons: [
        { type: 'QUICK_REPLY', text: 'Yes' },
        { type: 'URL', text: 'See', url: 'https://example.com/{{1}}' },
        { type: 'URL', text: 'Shop', url: 'https://example.com/' },
      ],
    },
  ]

  for (const index of [1, '1', undefined])
    assert.ok(fits(parts, [button('url', index, text('{{code}}'))]), String(index))
  assert.ok(fits(parts, [button('quick_reply', 0, { type: 'payload', payload: 'y' }), button('URL', '1', text())]))
  for (const wrong of [
    [],
    [button('url', 0, text())],
    [button('url', '2', text())],
    [button('url', 1)],
    [button('quick_reply', 1, { type: 'payload', payload: 'y' })],
  ])
    assert.ok(!fits(parts, wrong), JSON.stringify(wrong))
})

test('a copy-code button needs the code', () => {
  const parts: Parts = [
    body,
    {
      type: 'BUTTONS',
      buttons: [
        { type: 'QUICK_REPLY', text: 'No' },
        { type: 'COPY_CODE', text: 'Copy' },
      ],
    },
  ]
  const code = (coupon_code: unknown) => ({ type: 'coupon_code', coupon_code })

  for (const sub_type of ['copy_code', 'COPY_CODE']) assert.ok(fits(parts, [button(sub_type, '1', code('{{code}}'))]))
  for (const wrong of [
    [],
    [button('copy_code', 1)],
    [button('copy_code', 1, code(''))],
    [button('copy_code', 0, code('A'))],
  ])
    assert.ok(!fits(parts, wrong), JSON.stringify(wrong))
})

test('a template that the copy cannot judge passes', () => {
  const much = [header(text()), bodyOf(text()), button('url', 7, text())]
  const unknown: Parts[] = [
    [],
    [{ type: 'CAROUSEL', cards: [] }],
    [{ type: 'HEADER', format: 'GIF' }],
    [{ type: 'HEADER', format: 'CONSTRUCTOR' }],
    [{ type: 'HEADER' }, { type: 'BODY' }],
    [{ type: 'BUTTONS' }],
    [{ type: 'BUTTONS', buttons: [null, 'x', { type: 'URL' }, { type: 'OTP', otp_type: 'COPY_CODE' }, {}] }],
  ]

  for (const parts of unknown)
    for (const written of [[], much, [{ type: 'header', parameters: null }]])
      assert.ok(fits(parts, written), JSON.stringify(parts))
  assert.ok(fits([{ type: 'BODY', text: '{{name}}' }], [bodyOf(text('A', { parameter_name: 'name' }))]))
  assert.ok(fits([{ type: 'BODY', text: '{{1}}' }], [bodyOf(text('A', { parameter_name: 'name' }))], 'ANOTHER'))
})
