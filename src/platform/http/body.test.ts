import { Problem } from '../../api/problem.ts'
import { isJsonType, parseBody, UnfitItem, type ItemsApart } from './body.ts'
import assert from 'node:assert/strict'
import test from 'node:test'

const refused = (text: string, apart?: ItemsApart) => {
  try {
    parseBody(Buffer.from(text), apart)
  } catch (error) {
    if (error instanceof Problem) return `${error.code} ${error.param ?? ''}`
  }
  return 'accepted'
}
const messages: ItemsApart = { field: 'messages', items_max: 100 }
const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

test('values that no field may contain are refused at any depth', () => {
  assert.equal(refused('{"text":{"body":"a\\u0000b"}}'), 'parameter_invalid text.body')
  assert.equal(refused('{"metadata":{"a\\u0000":1}}'), 'parameter_invalid metadata["a\\u0000"]')
  assert.equal(refused('{"text":{"body":"\\ud83d"}}'), 'parameter_invalid text.body')
  assert.equal(refused('{"location":{"latitude":1e999}}'), 'parameter_invalid location.latitude')
  assert.match(refused(`{"metadata":${deep(32)}}`), /^parameter_invalid metadata/)
  assert.equal(refused(`{"metadata":${deep(31)}}`), 'accepted')
  assert.equal(refused('{"text":{"body":"\\ud83d\\ude00"}}'), 'accepted')
})

test('items are checked one by one: an invalid one is marked, the others stay unchanged', () => {
  const body = parseBody(
    Buffer.from(
      `{"messages":[{"text":{"body":"a\\u0000"}},{"to":"+1"},7,{"metadata":${deep(40)}},{"location":{"latitude":1e999}}]}`,
    ),
    messages,
  )
  const [nul, fine, seven, tooDeep, tooLarge] = body.messages as unknown[]

  assert.ok(nul instanceof UnfitItem && tooDeep instanceof UnfitItem && tooLarge instanceof UnfitItem)
  assert.deepEqual(
    nul.details.map((detail) => [detail.param, detail.code]),
    [['text.body', 'invalid_value']],
  )
  assert.equal(tooLarge.details[0].param, 'location.latitude')
  assert.deepEqual([fine, seven], [{ to: '+1' }, 7])
})

test('an integer that would lose digits is refused, any other accepted', () => {
  for (const lost of ['9007199254740993', '-9007199254740993', '12345678901234567890']) {
    assert.equal(refused(`{"metadata":{"order":[{"id":${lost}}]}}`), 'parameter_invalid metadata.order[0].id')
  }
  for (const kept of [
    '9007199254740991',
    '9007199254740992',
    '1e21',
    '100000000000000000000',
    '0.1234567890123456789',
    '"12345678901234567890"',
  ]) {
    assert.equal(refused(`{"metadata":{"id":${kept},"id_text":"9007199254740993"}}`), 'accepted')
  }
  assert.equal(refused('{"order":12345678901234567890,"note":"\\u0000"}'), 'parameter_invalid order')

  const [lost, kept, none] = parseBody(
    Buffer.from(
      '{"messages":[{"metadata":{"id":9007199254740993}},{"metadata":{"id":9007199254740992}},9007199254740993]}',
    ),
    messages,
  ).messages as unknown[]

  assert.ok(lost instanceof UnfitItem)
  assert.deepEqual(
    lost.details.map((detail) => [detail.param, detail.code]),
    [['metadata.id', 'invalid_value']],
  )
  assert.deepEqual(kept, { metadata: { id: 9007199254740992 } })
  assert.equal(none, null, 'what is no object stays none, for the batch to refuse')
})

test('apart from the items the body is checked as a whole', () => {
  assert.equal(refused('{"messages":[{}],"note":"\\u0000"}', messages), 'parameter_invalid note')
  assert.equal(refused('{"messages":"\\u0000"}', messages), 'parameter_invalid messages')
})

test('JSON in UTF-8 is accepted with any other parameters of its content type', () => {
  for (const type of [
    '',
    ';',
    '; charset=utf-8',
    ';charset="UTF-8"',
    '; version=1',
    '; profile="a;b"; charset=utf8',
    ' ; odata.metadata=minimal;charset=us-ascii ',
  ])
    assert.equal(isJsonType(`application/json${type}`), true, type)
  for (const type of [
    '; charset=utf-16',
    '; charset="latin1"',
    '; version=1; charset=latin1',
    '; version',
    '; =1',
    '; a="b',
    'x',
    '-seq',
    ', text/plain',
  ])
    assert.equal(isJsonType(`application/json${type}`), false, type)
})

test('a content type with many blanks is parsed in linear time', () => {
  // CPU time of this process, independent of other load
  const began = process.cpuUsage()

  assert.equal(isJsonType(`application/json${`;${' '.repeat(10)}`.repeat(200)}x`), false)
  assert.equal(isJsonType(`application/json${`;${' '.repeat(10)}`.repeat(200)}charset=utf-8`), true)
  assert.equal(isJsonType(`application/json;${'a=b;'.repeat(2000)}a`), false)
  assert.equal(isJsonType(`application/json;${'a'.repeat(8000)}`), false)
  assert.equal(isJsonType(`application/json;a="${'b;'.repeat(4000)}`), false)

  assert.ok(process.cpuUsage(began).user < 1_000_000)
})

test('digits are checked in numbers only, not in texts', () => {
  const number = '12345678901234567890123'
  const lost = `"id":${number}`
  for (const text of [
    `0.${number}`,
    `${number}e5`,
    `1e-${'0'.repeat(20)}9`,
    `"${number}"`,
    `"\\\\\\"${number}"`,
    `"${'\\n'.repeat(400_000)}"`,
    `"${'a'.repeat(900_000)}"`,
  ]) {
    assert.equal(
      refused(`{"metadata":{"near":9007199254740992,"a":${text},"b":[${text}]}}`),
      'accepted',
      text.slice(0, 40),
    )
    assert.equal(
      refused(`{"metadata":{"a":${text},${lost},"b":"${number}"}}`),
      'parameter_invalid metadata.id',
      text.slice(0, 40),
    )
  }
  assert.equal(refused(`{"metadata":{"list":[0,-${number}, ${number}]}}`), 'parameter_invalid metadata.list[1]')
  assert.equal(
    refused('{"metadata":{"near":9007199254740993,"a":"\\u0000lost digits"}}'),
    'parameter_invalid metadata.near',
  )
})
