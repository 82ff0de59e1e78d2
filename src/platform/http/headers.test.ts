import { addressList, asksForCsv, isAddressRange, networkOf } from './headers.ts'
import assert from 'node:assert/strict'
import test from 'node:test'

test('a list covers addresses and ranges of both families in any notation', () => {
  const covers = addressList(['192.0.2.7', '10.0.0.0/8', '2001:db8::/32', '::ffff:198.51.100.0/120'])

  for (const address of [
    '192.0.2.7',
    '::ffff:192.0.2.7',
    '10.255.1.2',
    '2001:db8:1::1',
    '2001:0DB8:0:0::1',
    '198.51.100.9',
  ])
    assert.ok(covers(address), address)
  for (const address of ['192.0.2.8', '11.0.0.1', '2001:db9::1', '198.51.101.1', '', 'nonsense', '10.0.0', '012.1.1.1'])
    assert.ok(!covers(address), address)
})

test('an entry is an address or a range in plain notation', () => {
  assert.deepEqual(['192.0.2.7', '10.0.0.0/8', '::1', '2001:db8::/32'].map(isAddressRange), [true, true, true, true])
  assert.deepEqual(
    [
      '',
      'localhost',
      '10.1',
      '0x7f000001',
      '300.0.0.1',
      '10.0.0.0/33',
      '::1/129',
      '10.0.0.0/',
      ' 10.0.0.1',
      '010.0.0.1',
      '10.0.0.010/8',
      '1.2.3.4/08',
      '10.0.0.0/00',
      '00.0.0.0/0',
      'fe80::1%eth0',
    ].map(isAddressRange),
    Array.from({ length: 15 }, () => false),
  )
})

test('CSV is sent if Accept names it, otherwise JSON', () => {
  const csv = [
    'text/csv',
    'Text/CSV; charset=utf-8',
    'text/csv, application/json;q=0.9',
    'application/json, text/csv',
    'text/csv;q=0.5, */*;q=0.1',
  ]
  const json = [
    undefined,
    '',
    '*/*',
    'text/*',
    'application/json',
    'text/csv;q=0.5, application/json',
    'text/csv;q=0',
    'text/csv;q=none',
    'text/csvx',
  ]

  assert.deepEqual([csv.filter((accept) => !asksForCsv(accept)), json.filter(asksForCsv)], [[], []])
})

test('addresses of one IPv6 /64 are one network, IPv4 addresses each their own', () => {
  assert.equal(networkOf('2001:db8:1:2::1'), networkOf('2001:0db8:0001:0002:ffff:ffff:ffff:ffff'))
  assert.equal(networkOf('fe80::1%eth0'), networkOf('fe80::2'))
  assert.equal(networkOf('::ffff:203.0.113.9'), networkOf('203.0.113.9'))
  assert.notEqual(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:3::1'))
  assert.notEqual(networkOf('203.0.113.8'), networkOf('203.0.113.9'))
})
