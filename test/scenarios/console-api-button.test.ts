/** The `API` button of every screen (behaviour: console 6.1). */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import test from 'node:test'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { withoutChromium } from '../support/chromium.ts'
import { button, heading, openOwnersConsole, titled } from '../support/console.ts'

const run = promisify(execFile)

async function requestShown(page: Page): Promise<string> {
  await button(page, 'API').click()
  const dialog = page.getByRole('dialog', { name: 'The same request by API' })
  const command = await dialog.locator('pre').innerText()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  return command
}

test(
  'the request that a screen shows works as shown, with a key or the session',
  { skip: withoutChromium },
  async (t) => {
    const { page, show, goto, account, owner, assertQuiet } = await openOwnersConsole(t)
    const env = { ...process.env, POSTHORN_KEY: account.key, POSTHORN_SESSION: owner.cookie!.split('=')[1]! }
    const shown = new Map<string, string>()
    await show('')
    await heading(page, 'Home').waitFor()
    for (const link of await page.getByRole('navigation', { name: 'Main' }).getByRole('link').all()) {
      const name = await link.innerText()
      await link.click()
      await heading(page, name).waitFor()
      await titled(page, `${name} · TEST · Posthorn`)
      shown.set(name, await requestShown(page))
    }
    assert.ok(shown.size >= 17, `screens of the menu: ${[...shown.keys()].join(', ')}`)
    for (const [path, name] of [
      ['profile', 'Profile'],
      ['admin', 'Platform'],
    ] as const) {
      await goto(`/console/${path}`)
      await heading(page, name).waitFor()
      shown.set(name, await requestShown(page))
    }

    for (const [name, command] of shown) {
      const { stdout } = await run('sh', ['-c', command.replace(/^curl /, `curl -sS -w '\\n%{http_code}' `)], { env })
      assert.match(stdout.split('\n').at(-1)!, /^20[01]$/, `${name}: ${command}\n${stdout}`)
    }
    assertQuiet()
  },
)
