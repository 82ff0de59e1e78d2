/** The console's page and files (behaviour: console 1). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { Client, request } from 'undici'
import { withoutChromium } from '../support/chromium.ts'
import { assertPresentable, openConsole, titled, looks } from '../support/console.ts'
import { startWorld } from '../support/world.ts'

test('every address of the console returns the uncached page, with a new nonce in its policy each time', async (t) => {
  const { base_url } = await startWorld(t)

  const pages = await Promise.all(
    ['/console', '/console/', '/console/acc_1/test/messages/msg_1?status=failed'].map(async (path) => {
      const { statusCode, headers, body } = await request(base_url + path)
      return { statusCode, headers, text: await body.text() }
    }),
  )

  const nonces = pages.map(({ text }) => /<script[^>]* nonce="([^"]+)"/.exec(text)![1]!)
  assert.equal(new Set(nonces).size, 3)
  for (const [at, { statusCode, headers, text }] of pages.entries()) {
    const policy = `default-src 'self'; script-src 'self'; style-src 'self' 'nonce-${nonces[at]}'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`
    assert.equal(statusCode, 200)
    assert.equal(headers['content-security-policy'], policy)
    assert.deepEqual(
      [
        headers['content-type'],
        headers['cache-control'],
        headers['x-content-type-options'],
        headers['referrer-policy'],
        headers['strict-transport-security'],
      ],
      ['text/html; charset=utf-8', 'no-store', 'nosniff', 'same-origin', undefined],
    )
    assert.equal(text.replaceAll(nonces[at]!, ''), pages[0]!.text.replaceAll(nonces[0]!, ''))
  }
})

test('over https the page requires https', async (t) => {
  const { base_url } = await startWorld(t, { settings: { base_url: 'https://posthorn.example' } })

  const { headers, body } = await request(`${base_url}/console`)
  await body.dump()

  assert.equal(headers['strict-transport-security'], 'max-age=31536000')
})

test('the files of the page are hashed, compressed and immutable, without source maps', async (t) => {
  const { base_url } = await startWorld(t)
  const page = await (await request(`${base_url}/console`)).body.text()
  const files = [...page.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+\.(?:js|css))"/g)].map((match) => match[1]!)

  assert.ok(files.length >= 2, page)
  for (const file of files) {
    assert.match(file, /-[\w-]{8}\.(js|css)$/)
    for (const encoding of ['br', 'gzip']) {
      const { statusCode, headers, body } = await request(base_url + file, { headers: { 'accept-encoding': encoding } })
      await body.dump()
      assert.deepEqual(
        [statusCode, headers['content-encoding'], headers['cache-control'], headers['x-content-type-options']],
        [200, encoding, 'public, max-age=31536000, immutable', 'nosniff'],
      )
    }
    const { statusCode, headers, body } = await request(`${base_url}${file}.map`)
    await body.dump()
    assert.deepEqual([statusCode, headers['content-type']], [404, 'application/json; charset=utf-8'])
    assert.doesNotMatch(await (await request(base_url + file)).body.text(), /sourceMappingURL/)
  }
})

test('unknown paths below api and outside of the files are 404, not the page', async (t) => {
  const { base_url } = await startWorld(t)

  for (const path of ['/console/api/nothing', '/console/assets/nothing.js', '/console/assets/..%2findex.html']) {
    const { statusCode, body } = await request(base_url + path)
    const answer = (await body.json()) as { error: { code: string } }
    assert.deepEqual([path, statusCode, answer.error.code], [path, 404, 'resource_missing'])
  }
})

test('unknown paths below api are not cached, whatever the method', async (t) => {
  const { base_url } = await startWorld(t)

  for (const [method, path] of [
    ['GET', '/console/api'],
    ['GET', '/console/api/nope'],
    ['PUT', '/console/api/v1/messages'],
    ['POST', '/console/api/nope'],
    ['GET', `/console/api/v1/messages/${'x'.repeat(400)}`],
  ] as const) {
    const { statusCode, headers, body } = await request(base_url + path, { method })
    await body.dump()
    assert.deepEqual([path, statusCode, headers['cache-control']], [path, 404, 'no-store'])
  }
})

test('a missing file, or a path outside of the files, is a plain 404', async (t) => {
  const { base_url } = await startWorld(t)
  const below = [
    'nope-1234.js',
    '..',
    '%00',
    'a/../b',
    '../index.html',
    '%2e%2e/index.html',
    '%2e',
    '%5c..%5c..%5cx',
    'a//b',
    'x'.repeat(300),
    '%zz',
  ]

  for (const path of below.map((each) => `/console/assets/${each}`)) {
    const get = await asWritten(base_url, 'GET', path)
    const { error } = JSON.parse(get.text) as { error: { code: string; message: string } }
    assert.deepEqual([path, get.status, error.code], [path, 404, 'resource_missing'])
    assert.match(error.message, /^There is no file \/console\/assets\//, path)
    const head = await asWritten(base_url, 'HEAD', path)
    assert.deepEqual([path, head.status, head.text], [path, 404, ''])
  }
})

test('a file is returned whole, despite range and conditional requests', async (t) => {
  const { base_url } = await startWorld(t)
  const page = await (await request(`${base_url}/console`)).body.text()
  const file = /src="(\/console\/assets\/[^"]+\.js)"/.exec(page)![1]!
  const whole = await asWritten(base_url, 'GET', file)

  for (const headers of [
    { range: 'bytes=999999999-' },
    { 'if-match': '"another"' },
    { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' },
  ])
    assert.deepEqual(await asWritten(base_url, 'GET', file, headers), whole)
})

/** `request` would resolve the dots in the path. */
async function asWritten(
  base_url: string,
  method: 'GET' | 'HEAD',
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  const client = new Client(base_url)
  const { statusCode, body } = await client.request({ method, path, headers })
  const text = await body.text()
  await client.close()
  return { status: statusCode, text }
}

test(
  'an unknown address shows a message, in both colour schemes and widths, and calls only the service',
  { skip: withoutChromium },
  async (t) => {
    const { base_url } = await startWorld(t)

    for (const { scheme, width } of looks) {
      const { page, goto, assertQuiet } = await openConsole(t, base_url, { scheme, width })
      await goto('/console/nowhere')
      await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor()

      await titled(page, 'Not found · Posthorn')
      await assertPresentable(page)
      assertQuiet()
    }
  },
)
