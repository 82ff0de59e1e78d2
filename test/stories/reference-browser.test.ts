/** What the pages do in a browser beyond being read: search, copying, the language that was chosen, requests with a test key (behaviour: operating 1.1). */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { launchChromium, withoutChromium } from '../kit/chromium.ts'
import { startWorld, type World } from '../kit/world.ts'

const skip = withoutChromium

interface Opened {
  readonly world: World
  readonly context: BrowserContext
  readonly page: Page
  /** What the page logged as an error, breaches of its policy among it. */
  readonly complaints: string[]
  /** The addresses that were asked for. */
  readonly asked: string[]
}

async function open(t: TestContext, path: string, options: { javaScriptEnabled?: boolean } = {}): Promise<Opened> {
  const world = await startWorld(t)
  const browser = await launchChromium(t)
  const context = await browser.newContext(options)
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const [complaints, asked]: [string[], string[]] = [[], []]
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('Failed to load resource')) complaints.push(message.text())
  })
  page.on('request', (request) => asked.push(request.url()))
  await page.goto(world.base_url + path)
  return { world, context, page, complaints, asked }
}

test('a request is sent from its page with a test key, which stays in the tab and out of addresses', { skip }, async (t) => {
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
  assert.deepEqual(await page.evaluate(() => Object.keys((globalThis as unknown as { localStorage: object }).localStorage)), [])
  await page.click('#try-forget')
  assert.deepEqual(
    [await page.inputValue('#try-key'), await page.evaluate(() => (globalThis as unknown as { sessionStorage: { length: number } }).sessionStorage.length)],
    ['', 0],
  )
  assert.deepEqual(complaints, [])
})

test('a live key is not taken on a page, and an id of dots leads nowhere else', { skip }, async (t) => {
  const { page, asked } = await open(t, '/docs/api/messages.retrieve')

  await page.click('.try summary')
  await page.fill('[data-path=id]', 'msg_01')
  await page.fill('#try-key', 'svc_live_0123456789')
  await page.click('#try .main')
  const live = await page.textContent('#try [role=alert]')
  await page.fill('#try-key', 'svc_test_0123456789')
  await page.fill('[data-path=id]', '..')
  await page.click('#try .main')
  await page.waitForSelector('#try-answer:not([hidden]), #try [role=alert]:not([hidden])')

  assert.match(live!, /live key/)
  assert.deepEqual(
    asked.filter((url) => !new URL(url).pathname.startsWith('/docs/') && !new URL(url).pathname.startsWith('/v1/')),
    [],
  )
  assert.equal(await page.evaluate(() => JSON.stringify((globalThis as unknown as { sessionStorage: object }).sessionStorage).includes('svc_live_')), false)
})

test('the search finds operations, error codes and sections of guides by their words, and by keys alone', { skip }, async (t) => {
  const { world, page, complaints } = await open(t, '/docs')

  await page.keyboard.press('/')
  await page.keyboard.type('roll secret')
  await page.waitForSelector('#search li a[href="/docs/api/webhook_endpoints.roll_secret"]')
  await page.fill('#search input', 'idempotency_key_reused')
  await page.waitForSelector('#search li:first-child a[href="/docs/errors/idempotency_key_reused"]')
  await page.fill('#search input', 'no such thing at all')
  await page.waitForSelector('#search [role=status]')
  await page.fill('#search input', 'send a message')
  await page.waitForSelector('#search li:first-child a[href="/docs/api/messages.send"]')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${world.base_url}/docs/api/messages.send`)

  assert.deepEqual(complaints, [])
})

test('the language of the samples that was chosen is kept, and what is copied is the text', { skip }, async (t) => {
  const { world, context, page, complaints } = await open(t, '/docs/api/messages.send')
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])

  await page.click('label[for=in-python]')
  await page.goto(`${world.base_url}/docs/api/messages.list`)

  assert.equal(await page.isVisible('.in-python'), true)
  assert.equal(await page.isVisible('.in-curl'), false)
  await page.click('.copied:has(.in-python) button')
  await page.waitForSelector('.copied:has(.in-python) button:has-text("Copied")')
  const copied = await page.evaluate(() =>
    (globalThis as unknown as { navigator: { clipboard: { readText(): Promise<string> } } }).navigator.clipboard.readText(),
  )
  assert.equal(copied, await page.textContent('.in-python'))
  assert.deepEqual(complaints, [])
})

test('an anchor of the one page that the reference was leads on to the page of the operation, as one of a content type does', { skip }, async (t) => {
  const { world, page } = await open(t, '/docs#post-v1-messages')

  await page.waitForURL(`${world.base_url}/docs/api/messages.send`)
  await page.goto(`${world.base_url}/docs/content#template`)
  await page.waitForURL(`${world.base_url}/docs/content/template`)
})

test('without JavaScript every sample can be chosen, and nothing is offered that would not work', { skip }, async (t) => {
  const { page } = await open(t, '/docs/api/messages.send', { javaScriptEnabled: false })

  for (const language of ['typescript', 'python', 'curl']) {
    await page.click(`label[for=in-${language}]`)
    assert.equal(await page.isVisible(`.in-${language}`), true, language)
  }
  assert.deepEqual(
    [await page.isVisible('.try'), await page.locator('#search input').count(), await page.isVisible('nav a[href="/docs/errors"]')],
    [false, 0, true],
  )
})

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
      () => (globalThis as unknown as { document: { documentElement: { scrollWidth: number } } }).document.documentElement.scrollWidth,
    )
    assert.ok(wide <= 390, `${path}: ${wide} pixels`)
  }
})
