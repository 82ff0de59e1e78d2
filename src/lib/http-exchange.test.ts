import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Dispatcher } from 'undici'
import { HttpExchange } from './http-exchange.ts'

const errors = [
  'EPROTO',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ECONNRESET',
  'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC',
]
const controller = { abort: () => undefined } as unknown as Dispatcher.DispatchController

for (const code of errors)
  test(`${code} before a request began reached nobody, and under it may have`, async () => {
    const error = Object.assign(new Error('It broke.'), { code })
    const [before, under] = [new HttpExchange(1000, true), new HttpExchange(1000, true)]
    under.onRequestStart(controller)

    before.fail(error)
    under.fail(error)

    assert.deepEqual([(await before.ended).begun, (await under.ended).begun], [false, true])
  })
