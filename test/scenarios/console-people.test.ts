/** Set-up, sign-in and frame of the console (behaviour: console 1.5). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { withoutChromium } from '../support/chromium.ts'
import {
  assertPresentable,
  button,
  field,
  heading,
  openConsole,
  signInOn,
  startConsoleWorld,
  titled,
  looks,
} from '../support/console.ts'
import { ownerPassword, signedInOwner } from '../support/console-api.ts'
import type { World } from '../support/world.ts'

async function withOwner(world: World): Promise<string> {
  const { account } = await signedInOwner(world)
  return `/console/${account}`
}

test(
  'the set-up link creates the first owner, who arrives at Home in test mode; the token is not in the address',
  { skip: withoutChromium },
  async (t) => {
    const world = await startConsoleWorld(t)
    await world.account()
    const link = await world.services.operators.offerSetup()
    const { page, goto, assertQuiet } = await openConsole(t, world.base_url)

    await goto(link!.slice(world.base_url.length))
    await heading(page, 'Set up Posthorn').waitFor()
    assert.equal(new URL(page.url()).hash, '')
    await assertPresentable(page)
    await field(page, 'Your name').fill('<b>Olivia</b>')
    await field(page, 'E-mail').fill('owner@example.com')
    await field(page, 'Password').fill('short')
    await button(page, 'Create owner').click()
    await page.getByText(/12 characters or more/).waitFor()
    await field(page, 'Password').fill(ownerPassword)
    await button(page, 'Create owner').click()

    await heading(page, 'Home').waitFor()
    assert.match(page.url(), /\/console\/acc_\w+\/test$/)
    await titled(page, 'Home · TEST · Posthorn')
    assert.equal(await page.locator('html').getAttribute('data-mode'), 'test')
    await page.getByText('Test mode', { exact: true }).waitFor()
    await button(page, 'Your profile').click()
    await page.getByRole('menu').getByText('<b>Olivia</b>').waitFor()
    assertQuiet()
  },
)

test('a signed-out visitor signs in and returns, and never to another site', { skip: withoutChromium }, async (t) => {
  const world = await startConsoleWorld(t)
  await world.account()
  const home = await withOwner(world)
  const { page, goto, assertQuiet } = await openConsole(t, world.base_url)

  await goto(`${home}/live?x=1`)
  await heading(page, 'Sign in').waitFor()
  await field(page, 'E-mail').fill('owner@example.com')
  await field(page, 'Password').fill('not this one at all')
  await button(page, 'Sign in').click()
  await page.getByRole('alert').getByText('invalid_credentials').waitFor()
  await signInOn(page)
  await heading(page, 'Home').waitFor()
  assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, `${home}/live?x=1`)

  await page.getByRole('button', { name: 'Your profile' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await heading(page, 'Sign in').waitFor()
  for (const next of ['https://evil.example/', '//evil.example/', '/\\evil.example', 'javascript:alert(1)']) {
    await goto(`/console/sign-in?next=${encodeURIComponent(next)}`)
    await signInOn(page)
    await heading(page, 'Home').waitFor()
    assert.equal(new URL(page.url()).origin, world.base_url)
    await page.getByRole('button', { name: 'Your profile' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await heading(page, 'Sign in').waitFor()
  }
  assertQuiet()
})

test(
  'the frame is accessible in both colour schemes and widths, shows the mode, and works by keyboard',
  { skip: withoutChromium },
  async (t) => {
    const world = await startConsoleWorld(t)
    await world.account()
    const home = await withOwner(world)

    for (const { scheme, width } of looks) {
      const { page, goto, assertQuiet } = await openConsole(t, world.base_url, { scheme, width })
      await goto('/console/sign-in')
      await heading(page, 'Sign in').waitFor()
      await assertPresentable(page)
      await signInOn(page)
      await heading(page, 'Home').waitFor()
      await assertPresentable(page)

      await page.getByRole('radiogroup', { name: 'Mode' }).getByText('Live', { exact: true }).click()
      await page.waitForURL(`**${home}/live`)
      await titled(page, 'Home · LIVE · Posthorn')
      assert.equal(await page.getByText('Test mode', { exact: true }).count(), 0)
      await page.keyboard.press('Control+k')
      const search = page.getByRole('combobox', { name: 'Search everything' })
      await search.fill('hom')
      await page.getByRole('option', { name: /Home/ }).waitFor()
      await assertPresentable(page)
      await page.keyboard.press('Escape')
      if (width === 390) {
        await button(page, 'Menu').click()
        await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Home' }).waitFor()
        await assertPresentable(page)
      }
      assertQuiet()
    }
  },
)

test('when a session ends, a dialog asks for the password over the screen', { skip: withoutChromium }, async (t) => {
  const world = await startConsoleWorld(t)
  await world.account()
  const home = await withOwner(world)
  const { page, goto } = await openConsole(t, world.base_url)
  await goto(`${home}/test`)
  await signInOn(page)
  await heading(page, 'Home').waitFor()

  await world.pool`delete from sessions`
  // the page refetches when it is shown again
  await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")

  const dialog = page.getByRole('dialog', { name: 'Sign in again' })
  await dialog.getByLabel('Password', { exact: true }).fill(ownerPassword)
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
  await dialog.waitFor({ state: 'hidden' })
  await heading(page, 'Home').waitFor()
})
