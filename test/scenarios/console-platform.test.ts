/** Platform administration in the console (behaviour: console 3.15). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { consoleClient, ownerPassword } from '../support/console-api.ts'
import { withoutChromium } from '../support/chromium.ts'
import {
  assertPresentable,
  assertPresentableEverywhere,
  button,
  field,
  heading,
  inEitherSchemeAndWidth,
  openConsole,
  openOwnersConsole,
  titled,
} from '../support/console.ts'

test(
  'an administrator creates an account, acts for another one with a reason, and ends it',
  { skip: withoutChromium },
  async (t) => {
    const opened = await openOwnersConsole(t)
    const { world, owner, page, goto, assertQuiet } = opened
    const theirs = await world.account({ name: 'Theirs <b>' })
    await goto('/console/admin')
    await heading(page, 'Platform').waitFor()
    await titled(page, 'Platform · Posthorn')
    await page.getByRole('table', { name: 'Users' }).getByText('owner@example.com').waitFor()
    await page.getByRole('table', { name: 'E-mails' }).waitFor()
    const accounts = page.getByRole('table', { name: 'Accounts' })
    await button(page, 'New account').click()
    await field(page, 'Name').fill('Made here')
    await button(page.getByRole('dialog', { name: 'New account' }), 'Save').dblclick()
    await page.getByRole('status').getByText('Made here was created').waitFor()
    await accounts.getByText('Made here').waitFor()
    assert.equal(await accounts.getByText('Made here').count(), 1)

    await button(page, 'Act for Theirs <b>').click()
    const dialog = page.getByRole('dialog', { name: 'Act for Theirs <b>' })
    await field(dialog, 'Reason').fill('x')
    await button(dialog, 'Begin').click()
    await dialog.getByText('Say why you act for the account').waitFor()
    await field(dialog, 'Reason').fill('Ticket 4711')
    await button(dialog, 'Begin').click()
    const bar = page.getByRole('complementary', { name: 'Acting for an account' })
    await bar.getByText('You are acting for Theirs <b>').waitFor()
    await heading(page, 'Home').waitFor()
    assert.match(page.url(), new RegExp(`/console/${theirs.id}/live$`))
    await goto(`/console/${theirs.id}/test/contacts`)
    const closed = button(page, 'New contact')
    await closed.waitFor()
    assert.equal(await closed.getAttribute('aria-disabled'), 'true')
    await page.getByText('Not available while you act for an account').first().waitFor({ state: 'attached' })
    await inEitherSchemeAndWidth(page, () => assertPresentable(page))
    await button(bar, 'End').click()
    await heading(page, 'Platform').waitFor()
    await bar.waitFor({ state: 'detached' })

    await assertPresentableEverywhere(opened, '../../admin', (shown) =>
      shown.getByRole('table', { name: 'Users' }).getByText('owner@example.com').waitFor(),
    )
    const invited = await owner.send('POST', '/invitations', { email: 'vi@example.com', role: 'viewer' })
    const viewer = consoleClient(world)
    await viewer.send('POST', '/invitations/accept', {
      token: invited.body.url.split('#')[1],
      name: 'Vi',
      password: ownerPassword,
    })
    const other = await openConsole(t, world.base_url)
    const [name, value] = viewer.cookie!.split('=') as [string, string]
    await other.page.context().addCookies([{ name, value, url: world.base_url, httpOnly: true, sameSite: 'Lax' }])
    await other.goto('/console/admin')
    await heading(other.page, 'Not allowed').waitFor()
    assertQuiet()
  },
)
