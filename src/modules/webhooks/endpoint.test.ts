/** Host names of endpoints are checked for private addresses. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NetworkAddress, Resolve } from '../../lib/sockets.ts'
import { checkEndpoint } from './endpoint.ts'

const leadingTo =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address): NetworkAddress => ({ address, family: address.includes(':') ? 6 : 4 }))
const never = () => new Promise<never>(() => undefined)
const check = (url: string, resolve: Resolve, sleep: (ms: number) => Promise<void> = never) =>
  checkEndpoint({ url }, { allowed_hosts: ['localhost:4000'], resolve, sleep })

test('a name that resolves to any private address is refused', async () => {
  for (const addresses of [
    ['127.0.0.1'],
    ['10.1.2.3'],
    ['93.184.216.34', '192.168.0.1'],
    ['fd00::1'],
    ['::1'],
    ['::ffff:10.0.0.1'],
  ]) {
    await assert.rejects(
      check('https://hooks.example.com/', leadingTo(...addresses)),
      { code: 'webhook_url_not_public', param: 'url' },
      addresses.join(),
    )
  }
})

test('a name that resolves to public or documentation addresses is accepted', async () => {
  for (const addresses of [['93.184.216.34'], ['2606:2800:220:1::1', '93.184.216.34'], ['192.0.2.1']])
    await check('https://hooks.example.com/', leadingTo(...addresses))
})

test('a name that does not resolve in time is accepted', async () => {
  await check('https://hooks.example.com/', () =>
    Promise.reject(Object.assign(new Error('queryA'), { code: 'ENOTFOUND' })),
  )
  await check('https://hooks.example.com/', never, async () => undefined)
})

test('a host that the operator allows is not looked up', async () => {
  await check('http://localhost:4000/x', () => Promise.reject(new Error('looked up')))
  await assert.rejects(check('http://localhost:4001/x', leadingTo('127.0.0.1')), { code: 'webhook_url_not_public' })
})
