/** Profiles in the console (behaviour: console 3.3). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { TOTP } from 'otpauth'
import { withoutChromium } from '../support/chromium.ts'
import { assertPresentable, button, field, heading, openOwnersConsole, signInOn, looks } from '../support/console.ts'
import { ownerPassword } from '../support/console-api.ts'

const otherPassword = 'another horse, another battery'

test('the profile is accessible in both widths and all colour schemes', { skip: withoutChromium }, async (t) => {
  const owners = await openOwnersConsole(t)

  for (const { scheme, width } of looks) {
    const { page, goto, assertQuiet } = await owners.window({ scheme, width })
    await goto('/console/profile')
    await heading(page, 'Profile').waitFor()
    await page.getByRole('table', { name: 'Sessions' }).getByText('This session').waitFor()
    await assertPresentable(page)
    await page
      .getByRole('radiogroup', { name: 'Colour scheme' })
      .getByLabel(scheme === 'dark' ? 'Light' : 'Dark', { exact: true })
      .check()
    await assertPresentable(page)
    assertQuiet()
  }
})

test('a new password needs the old one, and ends other sessions', { skip: withoutChromium }, async (t) => {
  const owners = await openOwnersConsole(t)
  const elsewhere = await owners.owner.send('POST', '/session', { email: 'owner@example.com', password: ownerPassword })
  assert.equal(elsewhere.status, 201)
  const { page, goto, assertQuiet } = await owners.window()
  await goto('/console/profile')

  await field(page, 'Current password').fill('not this one, certainly')
  await field(page, 'New password').fill(otherPassword)
  await button(page, 'Change password').click()
  await page
    .getByText(/not your password as it is now/)
    .first()
    .waitFor()
  await field(page, 'Current password').fill(ownerPassword)
  await button(page, 'Change password').click()

  await page.getByText('Your password was changed. All your other sessions were signed out.').waitFor()
  assert.equal((await owners.world.pool`select id from sessions`).length, 1)
  assertQuiet()
})

test(
  'two-factor authentication is set up with a key, its code signs in, and a recovery code works once',
  { skip: withoutChromium },
  async (t) => {
    const owners = await openOwnersConsole(t)
    const { page, goto, world, assertQuiet } = owners
    await goto('/console/profile')
    await button(page, 'Set up two-factor').click()
    const dialog = page.getByRole('dialog', { name: 'Set up two-factor' })
    await dialog.getByRole('img', { name: 'QR code of the secret key' }).waitFor()
    await assertPresentable(page)
    const totp = new TOTP({ secret: await field(dialog, 'Secret key').inputValue() })
    const code = () => totp.generate({ timestamp: world.clock.now() })
    await field(dialog, 'Authentication code').fill(code())
    await button(dialog, 'Confirm').click()
    const listed = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem')
    await listed.first().waitFor()
    const recovery = await listed.allInnerTexts()
    assert.equal(recovery.length, 10)
    await button(page, 'I have stored it').click()
    await page.getByText('On. Signing in requires a code').waitFor()

    const signOut = async () => {
      await button(page, 'Your profile').click()
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
      await heading(page, 'Sign in').waitFor()
    }
    await signOut()
    await signInOn(page)
    await world.clock.advance(60_000)
    await field(page, 'Authentication code').fill(code())
    await button(page, 'Verify').click()
    await heading(page, 'Home').waitFor()
    await signOut()
    await signInOn(page)
    await button(page, 'Use a recovery code').click()
    await field(page, 'Recovery code').fill(recovery[0]!)
    await button(page, 'Verify').click()
    await heading(page, 'Home').waitFor()
    assertQuiet()
  },
)

test('with two-factor authentication a new password needs the code too', { skip: withoutChromium }, async (t) => {
  const owners = await openOwnersConsole(t)
  const { owner, page, goto, world, assertQuiet } = owners
  const begun = await owner.send('POST', '/two_factor')
  const totp = new TOTP({ secret: begun.body.secret })
  const code = () => totp.generate({ timestamp: world.clock.now() })
  await owner.send('POST', '/two_factor/confirm', { code: code() })
  await world.clock.advance(60_000)

  await goto('/console/profile')
  await field(page, 'Current password').fill(ownerPassword)
  await field(page, 'New password').fill(otherPassword)
  await field(page, 'Authentication code').fill('000000')
  await button(page, 'Change password').click()
  await page
    .getByText(/The code is wrong or was used before/)
    .first()
    .waitFor()
  await assertPresentable(page)
  await field(page, 'Authentication code').fill(code())
  await button(page, 'Change password').click()
  await page.getByText('Your password was changed.').waitFor()
  assertQuiet()
})

test(
  'a new e-mail address waits on the profile until its link is opened and confirmed',
  { skip: withoutChromium },
  async (t) => {
    const owners = await openOwnersConsole(t)
    const { page, goto, world, assertQuiet } = owners
    const ask = async () => {
      const you = page.getByRole('region', { name: 'You', exact: true })
      await field(you, 'E-mail').fill('olivia@example.com')
      await field(you, 'Password').fill(ownerPassword)
      await button(you, 'Save').click()
      await page.getByText(/posthorn users verify-email --email olivia@example\.com/).waitFor()
    }
    await goto('/console/profile')
    await ask()
    assert.equal(await field(page, 'E-mail').inputValue(), 'owner@example.com')
    await assertPresentable(page)
    await button(page, 'Keep the present address').click()
    await page.getByText('Your e-mail address stays as it is.').waitFor()
    await ask()

    const { link } = await world.services.operators.people.verifyEmail('olivia@example.com')
    const other = await owners.window()
    await other.page.goto(link)
    await heading(other.page, 'Confirm your e-mail address').waitFor()
    assert.equal(new URL(other.page.url()).hash, '')
    await assertPresentable(other.page)
    await button(other.page, 'Confirm e-mail address').click()
    await other.page.getByText('From now on you sign in with olivia@example.com.').waitFor()
    await assertPresentable(other.page)
    await page.reload()
    await field(page, 'E-mail').waitFor()
    assert.equal(await field(page, 'E-mail').inputValue(), 'olivia@example.com')
    const late = await owners.window()
    await late.page.goto(link)
    await button(late.page, 'Confirm e-mail address').click()
    await late.page.getByRole('alert').getByText('token_invalid').waitFor()
    assertQuiet()
  },
)

test('sensitive changes ask for the password in a dialog, and are then done', { skip: withoutChromium }, async (t) => {
  const { page, goto, world, assertQuiet } = await openOwnersConsole(t)
  await goto('/console/profile')
  await heading(page, 'Profile').waitFor()
  await world.clock.advance(11 * 60_000)

  await button(page, 'Set up two-factor').click()
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await assertPresentable(page)
  await field(dialog, 'Password').fill('wrong, wrong, wrong')
  await button(dialog, 'Confirm').click()
  await dialog.getByRole('alert').waitFor()
  await field(dialog, 'Password').fill(ownerPassword)
  await button(dialog, 'Confirm').click()

  await page.getByRole('dialog', { name: 'Set up two-factor' }).waitFor()
  assertQuiet()
})
