import assert from 'node:assert/strict'
import test from 'node:test'
import { differenceOf, excerptDifference } from './answers.ts'

const printed =
  '{"id":"msg_01k","status":"queued","to":"+1","error":null,"created_at":"2026-02-01T00:00:00.000Z","data":[{"a":1},{"a":2}]}'
const time = '"created_at": "2026-01-31T09:30:00.000Z"'

test('a page may omit members, elements and the end of a text, and nothing else', () => {
  assert.equal(
    differenceOf('json', `{ "id": "msg_…", "status": "queued", "data": [{ "a": 1 }, …], … }`, printed),
    undefined,
  )
  assert.equal(
    differenceOf('json', `{ "id": …, "status": "queued", "to": "+1", "error": null, ${time}, "data": […] }`, printed),
    undefined,
  )
  assert.match(
    differenceOf('json', `{ "id": "msg_…", "status": "queued" }`, printed)!,
    /^it has to, error, created_at, data as well/,
  )
  assert.match(differenceOf('json', `{ "status": "sent", … }`, printed)!, /^status is "queued", not "sent"/)
  assert.match(differenceOf('json', `{ "data": [{ "a": 1 }], … }`, printed)!, /^data has 2 elements, not 1/)
  assert.match(differenceOf('json', `{ "data": [{ "a": 1 }, { "a": 3 }], … }`, printed)!, /^data\[1\]\.a is 2, not 3/)
  assert.match(differenceOf('json', `{ "sender": …, … }`, printed)!, /^\.sender is missing/)
  assert.match(differenceOf('json', `{}`, 'not JSON')!, /^no JSON was printed/)
})

test('of an answer with headers, the status, the shown headers and the body are compared', () => {
  const answer = 'HTTP/1.1 202 Accepted\r\nRateLimit-Limit: 100\r\nDate: now\r\n\r\n{"id":"msg_01k"}'

  assert.equal(
    differenceOf('http', 'HTTP/1.1 202 Accepted\nratelimit-limit: 100\n\n{ "id": "msg_…" }\n', answer),
    undefined,
  )
  assert.match(differenceOf('http', 'HTTP/1.1 200 OK\n', answer)!, /^the answer begins with HTTP\/1\.1 202 Accepted/)
  assert.match(differenceOf('http', 'HTTP/1.1 202 Accepted\nretry-after: 1\n', answer)!, /^no header retry-after: 1/)
  assert.match(differenceOf('http', 'HTTP/1.1 202 Accepted\n\n{ "id": "ch_…" }\n', answer)!, /^id is "msg_01k"/)
})

test('an excerpt is in the order of the text, whatever its indentation', () => {
  const text = 'one\n  two\n    three(x)\nfour\n'

  assert.equal(excerptDifference('two\n  three(…)\n', text), undefined)
  assert.equal(excerptDifference('one\n…\nfour\n', text), undefined)
  assert.match(
    excerptDifference('two\nfour\n', text)!,
    /^the line "four" does not stand there, or not behind those above it/,
  )
  assert.match(excerptDifference('five\n', text)!, /^the line "five" does not stand there/)
})

test('all lines are shown in order, unless a line marks an omission', () => {
  assert.equal(differenceOf('text', 'one\ntw…\n', 'one\ntwo\n'), undefined)
  assert.equal(differenceOf('text', 'one\n…\nthree\n', 'one\ntwo\nthree\n'), undefined)
  assert.match(differenceOf('text', 'one\n', 'one\ntwo\n')!, /^more was printed than is shown, from line 2 on/)
  assert.match(
    differenceOf('text', 'one\nthree\n', 'one\ntwo\nthree\n')!,
    /^the line "three" was not printed as line 2/,
  )
  assert.match(differenceOf('text', 'one\n…\nfour\n', 'one\ntwo\n')!, /^the line "four" was not printed/)
})
