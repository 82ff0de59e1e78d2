/** Team, settings and audit log in the console (behaviour: console 6.1). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { withoutChromium } from '../support/chromium.ts'
import {
  assertPresentable,
  assertPresentableEverywhere,
  button,
  field,
  heading,
  openConsole,
  openOwnersConsole,
} from '../support/console.ts'

const password = 'another horse, another battery'

test(
  'an owner invites somebody by a link, who joins, gets another role, and is removed',
  { skip: withoutChromium },
  async (t) => {
    const { world, page, show, account, assertQuiet } = await openOwnersConsole(t)
    await show('team')
    await heading(page, 'Team').waitFor()
    await button(page, 'Invite').click()
    const dialog = page.getByRole('dialog', { name: 'Invite' })
    await field(dialog, 'E-mail').fill('ada@example.com')
    await field(dialog, 'Role').selectOption('developer')
    await page.reload()
    await button(page, 'Invite').click()
    assert.equal(await field(dialog, 'E-mail').inputValue(), 'ada@example.com')
    await assertPresentable(page)
    await button(dialog, 'Send invitation').click()
    const link = await field(page.getByRole('dialog', { name: 'Invitation link' }), 'Invitation link').inputValue()
    await button(page, 'I have stored it').click()
    await page
      .getByRole('table', { name: 'Invitations' })
      .getByRole('cell', { name: 'ada@example.com', exact: true })
      .waitFor()

    const guest = await openConsole(t, world.base_url)
    await guest.page.goto(link)
    await heading(guest.page, 'Join Test account').waitFor()
    assert.equal(new URL(guest.page.url()).hash, '')
    await assertPresentable(guest.page)
    await field(guest.page, 'Your name').fill('Ada')
    await field(guest.page, 'Password').fill(password)
    await button(guest.page, 'Accept invitation').click()
    await heading(guest.page, 'Home').waitFor()
    await guest.goto(`/console/${account.id}/test/team`)
    await heading(guest.page, 'Not allowed').waitFor()

    await page.reload()
    await page.getByRole('combobox', { name: 'Role of Ada' }).selectOption('viewer')
    await page.getByText('Ada now has the role Viewer.').waitFor()
    await page.getByRole('button', { name: 'Remove Ada' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove Ada' }).click()
    await page.getByText('Ada is no longer a member.').waitFor()
    assertQuiet()
  },
)

test(
  'settings are saved and recorded in the audit log, in both colour schemes and widths',
  { skip: withoutChromium },
  async (t) => {
    const owners = await openOwnersConsole(t)
    const { page, show, assertQuiet } = owners
    await show('settings')
    await heading(page, 'Settings').waitFor()
    await field(page, 'Account name').fill('Shop <b>')
    await field(page, 'Account time zone').selectOption('Europe/Berlin')
    await field(page, 'Low balance threshold').fill('much')
    await button(page, 'Save').click()
    await page.getByText('This is not an amount. Enter dollars').waitFor()
    await field(page, 'Low balance threshold').fill('2.50')
    const answer = page.waitForResponse((response) => response.request().method() === 'PATCH')
    await button(page, 'Save').click()
    await page.getByText('Saved.').waitFor()
    assert.equal((await answer).headers()['service-ignored-fields'], undefined, 'whatever the form has is saved')
    const [account] = await owners.world.pool<{ name: string; timezone: string }[]>`select name, timezone from accounts`
    assert.deepEqual({ ...account }, { name: 'Shop <b>', timezone: 'Europe/Berlin' })

    await assertPresentableEverywhere(owners, 'settings', (other) => heading(other, 'Settings').waitFor())
    await assertPresentableEverywhere(owners, 'audit', (other) =>
      other.getByRole('table', { name: 'Audit log' }).getByText('account.update').first().waitFor(),
    )
    await assertPresentableEverywhere(owners, 'team', (other) =>
      other.getByRole('combobox', { name: 'Role of Olivia Owner' }).waitFor(),
    )
    assertQuiet()
  },
)

test(
  'a password reset answers the same for everybody, and its link sets a new password',
  { skip: withoutChromium },
  async (t) => {
    const { world, owner } = await openOwnersConsole(t)
    const { page, goto, assertQuiet } = await openConsole(t, world.base_url)
    await goto('/console/sign-in')
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    await heading(page, 'Choose a new password').waitFor()
    await field(page, 'E-mail').fill('nobody@example.com')
    await button(page, 'Send link').click()
    await page.getByText('If a user has this address, we have sent a link to it.').waitFor()
    await assertPresentable(page)
    await goto('/console/reset#not-a-token')
    await field(page, 'New password').fill(password)
    await button(page, 'Save').click()
    await page.getByRole('alert').getByText('token_invalid').waitFor()
    assert.equal((await owner.send('GET', '/session')).status, 200)
    assertQuiet()
  },
)
