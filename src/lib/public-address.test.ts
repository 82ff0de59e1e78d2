import { test } from 'node:test'
import assert from 'node:assert/strict'
import { addressKind, urlRefusal } from './public-address.ts'

const hostile = [
  // names
  'https://localhost/',
  'https://LOCALHOST/',
  'https://localhost./',
  'https://a.localhost/',
  'https://printer.local/',
  'https://Printer.LOCAL./',
  'https://db.internal/',
  'https://metadata.google.internal/computeMetadata/v1/',
  'https://loca%6chost/',
  'https://ｌｏｃａｌｈｏｓｔ/',
  'https://local/',
  'https://internal/',
  // loopback and its spellings
  'https://127.0.0.1/',
  'https://127.1/',
  'https://127.0.1/',
  'https://127.255.255.254/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.0.0.1/',
  'https://0x7f.1/',
  'https://017700000001/',
  'https://0177.0.0.1/',
  'https://0177.0.0.01/',
  'https://127.0.0.1./',
  'https://①②⑦.⓪.⓪.①/',
  'https://127。0。0。1/',
  'https://%31%32%37.0.0.1/',
  'https://127.0.0.1:8443/',
  'https://0x7F.0x0.0x0.0x1/',
  // unspecified, private, link-local, shared, special
  'https://0/',
  'https://0.0.0.0/',
  'https://0.1.2.3/',
  'https://10.0.0.1/',
  'https://10.255.255.255/',
  'https://167772161/',
  'https://172.16.0.1/',
  'https://172.31.255.255/',
  'https://0xac100001/',
  'https://192.168.0.1/',
  'https://192.168.1/',
  'https://3232235777/',
  'https://0300.0250.1.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://2852039166/',
  'https://0xa9fea9fe/',
  'https://0251.0376.0251.0376/',
  'https://100.64.0.1/',
  'https://100.127.255.255/',
  'https://192.0.0.170/',
  'https://192.88.99.1/',
  'https://198.18.0.1/',
  'https://198.19.255.255/',
  'https://224.0.0.1/',
  'https://239.255.255.255/',
  'https://240.0.0.1/',
  'https://255.255.255.255/',
  'https://4294967295/',
  // IPv6 and embedded IPv4
  'https://[::]/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[0000::0001]/',
  'https://[::127.0.0.1]/',
  'https://[::7f00:1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::ffff:0:127.0.0.1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://[::ffff:8.8.8.8]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[64:ff9b::127.0.0.1]/',
  'https://[64:ff9b:1::a00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[2002:a00:1::1]/',
  'https://[2002:c0a8:101::1]/',
  'https://[2001::1]/',
  'https://[2001:0:7f00:1::]/',
  'https://[2001:10::1]/',
  'https://[2001:2::1]/',
  'https://[fe80::1]/',
  'https://[febf::1]/',
  'https://[fec0::1]/',
  'https://[fc00::1]/',
  'https://[fd12:3456:789a::1]/',
  'https://[ff02::1]/',
  'https://[100::1]/',
  'https://[2a00:1450:4001::5efe:a00:1]/',
  'https://[2a00:1450:4001:0:200:5efe:192.168.0.1]/',
  'https://[fd00:ec2::254]/',
  // user info, schemes
  'https://user@example.com/',
  'https://user:pass@example.com/',
  'https://example.com@127.0.0.1/',
  'https://:pw@example.com/',
  'http://example.com/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://example.com/',
  'ws://example.com/',
  'javascript:alert(1)',
  'data:text/plain,x',
]

test(`none of ${hostile.length} hostile addresses passes`, () => {
  assert.ok(hostile.length >= 60)
  const passed = hostile.filter((url) => urlRefusal(url, []) === null)
  assert.deepEqual(passed, [])
})

test('public addresses and documentation ranges pass', () => {
  const fine = [
    'https://example.com/hook',
    'https://EXAMPLE.com:8443/hook?x=1',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]/',
    'https://192.0.2.1/',
    'https://198.51.100.7/',
    'https://203.0.113.9/',
    'https://[2001:db8::1]/',
    'https://notlocal/',
    'https://mylocalhost.com/',
    'https://internal.example.com/',
    'https://172.32.0.1/',
    'https://bücher.example/',
    'https://100.128.0.1/',
    'https://11.0.0.1/',
    'https://xn--bcher-kva.example/',
  ]
  assert.deepEqual(
    fine.filter((url) => urlRefusal(url, []) !== null),
    [],
  )
})

test('documentation ranges have a kind of their own', () => {
  assert.deepEqual(
    ['192.0.2.1', '198.51.100.7', '203.0.113.9', '2001:db8::1', '3fff::1'].map(addressKind),
    Array(5).fill('documentation'),
  )
  assert.deepEqual(['8.8.8.8', '2606:4700:4700::1111', '1.1.1.1'].map(addressKind), Array(3).fill('public'))
  assert.deepEqual(['', 'example.com', 'fe80::1%eth0', '::ffff:8.8.8.8'].map(addressKind), Array(4).fill('private'))
})

test('the operator may exempt a host and port, with http too, but never user info', () => {
  const allowed = ['localhost:4000', '127.0.0.1:443', '[::1]:5000']
  for (const url of [
    'http://localhost:4000/x',
    'https://localhost:4000/x',
    'https://127.0.0.1/',
    'https://2130706433/',
    'http://[::1]:5000/',
    'http://LOCALHOST:4000',
  ])
    assert.equal(urlRefusal(url, allowed), null, url)
  for (const url of ['http://localhost:4001/', 'http://127.0.0.1/', 'http://user@localhost:4000/', 'https://[::1]/'])
    assert.notEqual(urlRefusal(url, allowed), null, url)
})

test('text that is no URL is distinguished from a URL that is not public', () => {
  for (const text of [
    '',
    'example.com',
    '/hook',
    'https://',
    'https://[::1',
    'https://exa mple.com/',
    'https://1.2.3.256/',
  ])
    assert.equal(urlRefusal(text, []), 'unparsable', text)
})

test('a URL that the parser has to correct is refused, unless its address is refused first', () => {
  for (const text of [
    ' https://example.com/',
    'https://example.com/\n',
    'https://exam\tple.com/',
    'https://example.com/a b',
    'https:example.com',
    'https:/example.com',
    'https:\\\\example.com',
  ])
    assert.equal(urlRefusal(text, []), 'unparsable', text)
  assert.equal(urlRefusal(' http://localhost:4000/', ['localhost:4000']), 'unparsable')
  for (const text of ['https:127.0.0.1', 'https:////10.0.0.1/', ' https://[::1]/ ', 'https://127.0.0.1\n'])
    assert.equal(urlRefusal(text, []), 'private_address', text)
})
