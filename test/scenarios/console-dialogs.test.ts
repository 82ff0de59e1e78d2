/** Dialogs over dialogs: order, Escape and focus (behaviour: console 6.10). */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Page } from 'playwright-core'
import { ownerPassword } from '../support/console-api.ts'
import { withoutChromium } from '../support/chromium.ts'
import { button, field, heading, openOwnersConsole } from '../support/console.ts'
import { until } from '../support/waiting.ts'

const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(`(() => {
    const { activeElement: at } = document
    return at?.labels?.[0]?.textContent ?? at?.getAttribute('aria-label') ?? at?.textContent?.trim().slice(0, 40) ?? ''
  })()`)

const focusOn = (page: Page, name: string) =>
  until(
    `the focus to be on ${name}`,
    () => focused(page),
    (seen) => seen.replace(/\s*\*$/, '') === name,
  )

test(
  'the password dialog appears in front of the dialog that needs it, and the action is then done',
  { skip: withoutChromium },
  async (t) => {
    const { page, show, world, assertQuiet } = await openOwnersConsole(t)
    await show('developers')
    await heading(page, 'Developers').waitFor()
    await page.getByText('Live', { exact: true }).first().click()
    await page.waitForURL(/\/live\//)
    await world.clock.advance(11 * 60_000)
    await button(page, 'Create key').click()
    const dialog = page.getByRole('dialog', { name: 'Create key' })
    await focusOn(page, 'Name')
    await field(dialog, 'Name').fill('Shop')
    await button(dialog, 'Create').click()

    const question = page.getByRole('dialog', { name: 'Confirm that it is you' })
    await focusOn(page, 'Password')
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'hidden' })
    assert.equal(await field(dialog, 'Name').inputValue(), 'Shop')
    await button(dialog, 'Create').click()
    // anything over it would receive the click
    await field(question, 'Password').click()
    await page.keyboard.type(ownerPassword)
    await button(question, 'Confirm').click()
    await page.getByRole('dialog', { name: 'API key' }).waitFor()
    await button(page, 'I have stored it').click()
    await focusOn(page, 'Create key')
    assert.equal((await world.pool`select from api_keys where name = 'Shop'`).length, 1)
    assertQuiet()
  },
)

test(
  'when a session ends under an open dialog, sign-in appears in front and the input stays',
  { skip: withoutChromium },
  async (t) => {
    const { page, show, world } = await openOwnersConsole(t)
    await show('messages')
    await heading(page, 'Messages').waitFor()
    await button(page, 'Send message').click()
    const dialog = page.getByRole('dialog', { name: 'Send message' })
    await field(dialog, 'To').fill('+15005550006')
    await world.pool`delete from sessions`
    await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")

    const again = page.getByRole('dialog', { name: 'Sign in again' })
    await again.waitFor()
    await page.keyboard.press('Escape')
    await field(again, 'Password').click()
    await page.keyboard.type(ownerPassword)
    await button(again, 'Sign in').click()
    await again.waitFor({ state: 'hidden' })
    assert.equal(await field(dialog, 'To').inputValue(), '+15005550006')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await focusOn(page, 'Send message')
  },
)
