/** Reference pages meet WCAG 2.2 AA by axe and have no horizontal scroll, in light and dark, wide and narrow (behaviour: operating 1.1). */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Page } from 'playwright-core'
import { withoutChromium as skip } from '../support/chromium.ts'
import { accessibilityBreaches, openConsole, schemes, sidewaysPixels, widths, looks } from '../support/console.ts'
import { startWorld } from '../support/world.ts'

const paths = [
  '/docs',
  '/docs/api/messages',
  '/docs/api/messages.send',
  '/docs/api/contact_imports.create',
  '/docs/api/events.list',
  '/docs/content',
  '/docs/content/template',
  '/docs/errors',
  '/docs/errors/rate_limit_exceeded',
  '/docs/providers',
  '/docs/guides',
  '/docs/guides/webhooks',
  '/docs/guides/moving-from-twilio',
  '/docs/behaviour',
  '/docs/behaviour/conventions',
  '/docs/threat-model',
  '/docs/no/such/page',
]

async function look(page: Page, what: string): Promise<void> {
  assert.deepEqual([what, await accessibilityBreaches(page), await sidewaysPixels(page)], [what, [], 0])
}

for (const { scheme, width } of looks)
  test(`every kind of page has no violation, ${scheme}, ${width} pixels wide`, { skip }, async (t) => {
    const world = await startWorld(t)
    const { page, goto, assertQuiet } = await openConsole(t, world.base_url, { scheme, width })

    for (const path of paths) {
      await goto(path)
      for (const summary of await page.locator('details:not([open]) > summary').all()) await summary.click()
      await look(page, path)
    }
    assertQuiet()
  })

for (const scheme of schemes)
  test(`open menus and results have no violation, ${scheme}`, { skip }, async (t) => {
    const world = await startWorld(t)
    const { key } = await world.account()
    for (const width of widths) {
      const { page, goto } = await openConsole(t, world.base_url, { scheme, width })

      await goto('/docs/api/messages.send')
      await page.keyboard.press('/')
      await page.keyboard.type('webhook')
      await page.waitForSelector('#search li a')
      await page.keyboard.press('ArrowDown')
      await look(page, 'what was found')
      await page.fill('#search input', 'qqqq')
      await page.waitForSelector('#search [role=status]')
      await look(page, 'nothing was found')
      await page.keyboard.press('Escape')
      await page.click('.try summary')
      await page.click('#try .main')
      await page.waitForSelector('#try [role=alert]:not([hidden])')
      await look(page, 'a key is missing')
      await page.fill('#try-key', key)
      await page.click('#try .main')
      await page.waitForSelector('#try-answer:not([hidden])')
      await page.click('.copied:has(.in-curl) button')
      await look(page, 'an answer')
    }
  })

test('scrollable areas are reachable by keyboard, and no others are tab stops', { skip }, async (t) => {
  const world = await startWorld(t)
  const { page, goto } = await openConsole(t, world.base_url, { width: 390 })
  await goto('/docs/guides/webhooks')
  await page.waitForSelector('pre[tabindex="0"]')

  const wrong = await page.evaluate(() => {
    interface Part {
      readonly scrollWidth: number
      readonly clientWidth: number
      readonly tabIndex: number
    }
    const { document } = globalThis as unknown as { document: { querySelectorAll(selector: string): Iterable<Part> } }
    return [...document.querySelectorAll('pre, .scroll')].filter(
      (part) => part.scrollWidth > part.clientWidth !== (part.tabIndex === 0),
    ).length
  })

  assert.equal(wrong, 0)
})
