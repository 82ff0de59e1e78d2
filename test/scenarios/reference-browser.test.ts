/** The reference in a browser (behaviour: operating 1.1). */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { browserContext, withoutChromium } from '../support/chromium.ts'
import { boundMs } from '../support/waiting.ts'
import { startWorld, type World } from '../support/world.ts'

const skip = withoutChromium

interface Opened {
  readonly world: World
  readonly context: BrowserContext
  readonly page: Page
  /** Logged errors, including policy violations. */
  readonly complaints: string[]
  readonly asked: string[]
}

async function open(t: TestContext, path: string, options: { javaScriptEnabled?: boolean } = {}): Promise<Opened> {
  const world = await startWorld(t)
  const context = await browserContext(t, options)
  const page = await context.newPage()
  page.setDefaultTimeout(boundMs)
  const [complaints, asked]: [string[], string[]] = [[], []]
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('Failed to load resource'))
      complaints.push(message.text())
  })
  page.on('request', (request) => asked.push(request.url()))
  await page.goto(world.base_url + path)
  return { world, context, page, complaints, asked }
}

test('a page sends its request with a test key, which stays in the tab and out of addresses', { skip }, async (t) => {
  const { world, page, complaints, asked } = await open(t, '/docs/api/messages.send')
  const { key } = await world.account()

  await page.click('.try summary')
  await page.fill('#try-key', key)
  await page.press('#try-key', 'Enter')
  await page.waitForSelector('#try-answer:not([hidden])')

  assert.match((await page.textContent('#try-answer h4'))!, /^202 Accepted · req_/)
  assert.equal(JSON.parse((await page.textContent('#try-answer code'))!).object, 'message')
  assert.ok(
    asked.every((url) => url.startsWith(`${world.base_url}/`) && !url.includes(key)),
    asked.join(' '),
  )
  assert.equal(page.url(), `${world.base_url}/docs/api/messages.send`)
  await page.goto(`${world.base_url}/docs/api/messages.retrieve`)
  assert.equal(await page.inputValue('#try-key'), key)
  assert.deepEqual(
    await page.evaluate(() => Object.keys((globalThis as unknown as { localStorage: object }).localStorage)),
    [],
  )
  await page.click('#try-forget')
  assert.deepEqual(
    [
      await page.inputValue('#try-key'),
      await page.evaluate(
        () => (globalThis as unknown as { sessionStorage: { length: number } }).sessionStorage.length,
      ),
    ],
    ['', 0],
  )
  assert.deepEqual(complaints, [])
})

test('a page refuses a live key, and an id of dots leads nowhere else', { skip }, async (t) => {
  const { page, asked } = await open(t, '/docs/api/messages.retrieve')

  await page.click('.try summary')
  await page.fill('[data-path=id]', 'msg_01')
  await page.fill('#try-key', 'svc_live_0123456789')
  await page.click('#try .main')
  const live = await page.textContent('#try [role=alert]')
  await page.fill('#try-key', 'svc_test_0123456789')
  for (const id of ['.', '..', ' .. ', '%2e%2E', '.%2e', ' ']) {
    await page.fill('[data-path=id]', id)
    await page.click('#try .main')
    await page.waitForSelector('#try [role=alert]:has-text("dots alone")')
  }
  await page.fill('[data-path=id]', 'msg_01')
  for (const odd of ['svc_test_ä', 'svc_test_a b', 'svc_test_']) {
    await page.fill('#try-key', odd)
    await page.click('#try .main')
    await page.waitForSelector('#try [role=alert]:has-text("letters and digits")')
  }
  assert.deepEqual(
    asked.filter((url) => new URL(url).pathname.startsWith('/v1')),
    [],
  )
  await page.fill('#try-key', 'svc_test_0123456789')
  for (const id of ['a/../../healthz', '<b>?x=1#y', '%', '🦄']) {
    await page.fill('[data-path=id]', id)
    const answered = page.waitForResponse((response) => new URL(response.url()).pathname.startsWith('/v1/messages/'))
    await page.click('#try .main')
    assert.equal(new URL((await answered).url()).pathname, `/v1/messages/${encodeURIComponent(id)}`)
  }

  assert.match(live!, /live key/)
  assert.deepEqual(
    asked.filter((url) => !new URL(url).pathname.startsWith('/docs/') && !new URL(url).pathname.startsWith('/v1/')),
    [],
  )
  assert.equal(
    await page.evaluate(() =>
      JSON.stringify((globalThis as unknown as { sessionStorage: object }).sessionStorage).includes('svc_live_'),
    ),
    false,
  )
})

test(
  'the search finds operations, error codes and guide sections by their words, by keyboard alone',
  { skip },
  async (t) => {
    const { world, page, complaints } = await open(t, '/docs')

    await page.keyboard.press('/')
    await page.keyboard.type('roll secret')
    await page.waitForSelector('#search li a[href="/docs/api/webhook_endpoints.roll_secret"]')
    await page.fill('#search input', 'idempotency_key_reused')
    await page.waitForSelector('#search li:first-child a[href="/docs/errors/idempotency_key_reused"]')
    await page.fill('#search input', 'qqqq zzzz')
    await page.waitForSelector('#search [role=status]')
    await page.fill('#search input', 'send a message')
    await page.waitForSelector('#search li:first-child a[href="/docs/api/messages.send"]')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${world.base_url}/docs/api/messages.send`)

    assert.deepEqual(complaints, [])
  },
)

test('the search covers the text of guides and knows synonyms', { skip }, async (t) => {
  const { page, complaints } = await open(t, '/docs')
  const firstOnes = async (typed: string): Promise<string[]> => {
    await page.fill('#search input', '')
    await page.waitForSelector('#search ul[hidden]', { state: 'attached' })
    await page.fill('#search input', typed)
    await page.waitForSelector('#search li')
    return page
      .locator('#search li a')
      .evaluateAll((links) => links.slice(0, 5).map((link) => link.getAttribute('href')!))
  }
  const found: Record<string, string> = {
    otp: '/docs/guides/templates',
    '2fa': '/docs/guides/templates',
    unsubscribe: '/docs/guides/consent',
    'opt-out': '/docs/guides/consent',
    optout: '/docs/guides/consent',
    stop: '/docs/guides/consent#stop',
    pagination: '/docs/guides/lists',
    'webhook signature': '/docs/guides/webhooks#receiving',
    sandbox: '/docs/guides/test-mode',
    sender: '/docs/api/channels',
    broadcast: '/docs/guides/campaigns',
    ngrok: '/docs/guides/webhooks#on-a-laptop',
    sdk: '/docs/guides/typescript',
    'rate limit': '/docs/guides/limits',
    'how do I unsubscribe a contact?': '/docs/guides/consent#stop',
    'Messages.json': '/docs/api/messages.send',
    timingSafeEqual: '/docs/guides/webhooks#receiving',
    'GET /v1/messages/{id}': '/docs/api/messages.retrieve',
    'message.delivered': '/docs#events',
  }

  for (const [typed, href] of Object.entries(found)) {
    const first = await firstOnes(typed)
    assert.ok(first.includes(href), `${typed}: ${first.join(' ')}`)
  }
  assert.deepEqual(complaints, [])
})

test('odd search input, and a search that cannot be loaded, break nothing', { skip }, async (t) => {
  const { world, page, complaints } = await open(t, '/docs')
  const odd = [
    '<img src=x onerror=alert(1)>',
    '\\',
    '(',
    '[a',
    '*',
    '%00',
    '"\'`',
    '🦄',
    '…',
    'a'.repeat(5_000),
    '__proto__',
    'constructor',
    '</script>',
  ]

  for (const typed of odd) {
    await page.fill('#search input', typed)
    await page.waitForSelector('#search li')
    assert.equal(await page.locator('#search ul img').count(), 0)
  }
  // Enter opens the match of the whole word
  await page.fill('#search input', 'send a message')
  await page.waitForSelector('#search li a[href="/docs/api/messages.send"]')
  await page.fill('#search input', 'roll secret')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${world.base_url}/docs/api/webhook_endpoints.roll_secret`)
  await page.route('**/search.json', (route) => route.abort())
  await page.reload()
  await page.fill('#search input', 'anything')
  await page.waitForSelector('#search [role=status]:has-text("could not be loaded")')
  await page.unroute('**/search.json')
  await page.fill('#search input', 'messages')
  await page.waitForSelector('#search li a')

  assert.deepEqual(complaints, [])
})

test('the chosen sample language is remembered, and copying yields the text', { skip }, async (t) => {
  const { world, context, page, complaints } = await open(t, '/docs/api/messages.send')
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])

  await page.click('label[for=in-python]')
  await page.goto(`${world.base_url}/docs/api/messages.list`)

  assert.equal(await page.isVisible('.in-python'), true)
  assert.equal(await page.isVisible('.in-curl'), false)
  await page.click('.copied:has(.in-python) button')
  await page.waitForSelector('.copied:has(.in-python) button:has-text("Copied")')
  const copied = await page.evaluate(() =>
    (
      globalThis as unknown as { navigator: { clipboard: { readText(): Promise<string> } } }
    ).navigator.clipboard.readText(),
  )
  assert.equal(copied, await page.textContent('.in-python'))
  assert.deepEqual(complaints, [])
})

test("an anchor of the former single page leads to the operation's or content type's page", { skip }, async (t) => {
  const { world, page } = await open(t, '/docs#post-v1-messages')

  await page.waitForURL(`${world.base_url}/docs/api/messages.send`)
  await page.goto(`${world.base_url}/docs/content#template`)
  await page.waitForURL(`${world.base_url}/docs/content/template`)
})

test(
  'without JavaScript every sample can be chosen, and no control is shown that would not work',
  { skip },
  async (t) => {
    const { page } = await open(t, '/docs/api/messages.send', { javaScriptEnabled: false })

    for (const language of ['typescript', 'python', 'curl']) {
      await page.click(`label[for=in-${language}]`)
      assert.equal(await page.isVisible(`.in-${language}`), true, language)
    }
    assert.deepEqual(
      [
        await page.isVisible('.try'),
        await page.locator('#search input').count(),
        await page.isVisible('nav a[href="/docs/errors"]'),
      ],
      [false, 0, true],
    )
  },
)

test('no page is wider than a phone', { skip }, async (t) => {
  const { world, page } = await open(t, '/docs')
  await page.setViewportSize({ width: 390, height: 844 })

  for (const path of [
    '/docs',
    '/docs/api/messages',
    '/docs/api/messages.send',
    '/docs/errors',
    '/docs/content',
    '/docs/providers',
    '/docs/guides/webhooks',
    '/docs/behaviour/webhooks',
  ]) {
    await page.goto(world.base_url + path)
    const wide = await page.evaluate(
      () =>
        (globalThis as unknown as { document: { documentElement: { scrollWidth: number } } }).document.documentElement
          .scrollWidth,
    )
    assert.ok(wide <= 390, `${path}: ${wide} pixels`)
  }
})
