/** Home and search of the console (behaviour: console 6.1). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { withoutChromium } from '../support/chromium.ts'
import {
  assertPresentable,
  assertPresentableEverywhere,
  button,
  heading,
  inEitherSchemeAndWidth,
  openOwnersConsole,
  titled,
} from '../support/console.ts'

test(
  'Home shows message statistics as chart and table, in both colour schemes and widths',
  { skip: withoutChromium },
  async (t) => {
    const owners = await openOwnersConsole(t)
    const { world, account } = owners
    for (const to of ['+15005550006', '+15005550006', '+15005550001'])
      await account.api.post('/v1/messages', { channel: 'ch_test_sms', to, type: 'text', text: { body: 'Hi' } })
    await world.settle()

    const { page, show, assertQuiet } = owners
    await assertPresentableEverywhere(owners, '', async (home) => {
      await heading(home, 'Home').waitFor()
      await home.getByRole('region', { name: 'Messages sent' }).waitFor()
      await home.getByRole('region', { name: 'Needs attention' }).waitFor()
      await home
        .getByRole('region', { name: 'First steps' })
        .getByRole('link', { name: 'Send a test message' })
        .waitFor()
      await home.getByRole('figure', { name: 'Messages by day' }).locator('.recharts-wrapper').hover()
      await home.locator('.recharts-tooltip-wrapper').getByText('sent', { exact: false }).first().waitFor()
    })
    await show('')
    await button(page, 'Show as table').click()
    await inEitherSchemeAndWidth(page, async () => {
      assert.equal(await page.getByRole('table', { name: 'Messages by day' }).getByRole('row').count(), 31)
      await assertPresentable(page)
    })
    assertQuiet()
  },
)

test(
  'the search finds objects by id, phone number or reference, contacts first',
  { skip: withoutChromium },
  async (t) => {
    const { world, account, page, show, assertQuiet } = await openOwnersConsole(t)
    const contact = (await account.api.post('/v1/contacts', { phone: '+15005550006', first_name: '<b>Ada</b>' })).body
    const message = (
      await account.api.post('/v1/messages', {
        channel: 'ch_test_sms',
        to: '+15005550006',
        type: 'text',
        text: { body: 'Hi' },
        reference: 'order-1042',
      })
    ).body
    await world.settle()
    await show('')
    await heading(page, 'Home').waitFor()
    const options = page.getByRole('dialog').getByRole('option')
    const search = async (what: string) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search everything' }).fill(what)
      await options.first().waitFor()
      return await options.allInnerTexts()
    }

    const found = await search('+1 500 555 0006')
    assert.match(found[0]!, /<b>Ada<\/b>/)
    await page.keyboard.press('Escape')
    await search('order-1042')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/messages/${message.id}`)
    await search(contact.id)
    await options.first().click()
    await page.waitForURL(`**/contacts/${contact.id}`)
    const refused = await account.api.post('/v1/messages', { channel: 'ch_test_sms' })
    await world.settle()
    await search(refused.body.error.request_id)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/developers?request_id=${refused.body.error.request_id}`)
    await page.getByRole('table', { name: 'Requests' }).getByText('parameter_missing').waitFor()
    for (const path of ['segments/seg_none', 'messages/msg_none']) {
      await show(path)
      await titled(page, 'Not found · TEST · Posthorn')
    }
    assertQuiet()
  },
)
