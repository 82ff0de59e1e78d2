/** Channels and templates in the console (behaviour: console 6.2). */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { withoutChromium } from '../support/chromium.ts'
import {
  assertPresentable,
  assertPresentableEverywhere,
  button,
  field,
  heading,
  openOwnersConsole,
} from '../support/console.ts'
import { simulateTwilio } from '../support/simulators/twilio.ts'

const account_sid = 'AC0123456789abcdef0123456789abcdef'
const auth_token = 'f00dfeedf00dfeedf00dfeedf00dfeed'
const identifier = '+14155550100'

async function withTwilio(t: TestContext) {
  const sim = await simulateTwilio(t, {
    account_sid,
    auth_token,
    numbers: [identifier],
    now: () => Date.parse('2026-01-31T09:30:00.000Z'),
  })
  const opened = await openOwnersConsole(t, {
    platform: { settings: { provider_urls: { POSTHORN_TWILIO_URL: sim.url } } },
  })
  await opened.world.services.billing.creditWallet(opened.world.pool, opened.account.id, 1_000_000, null)
  return { ...opened, sim }
}

test(
  'a channel is connected with the fields of its provider, tested, changed and deleted',
  { skip: withoutChromium },
  async (t) => {
    const opened = await withTwilio(t)
    const { page, show, owner, world } = opened
    await show('channels', 'live')
    await page.getByText('No channel is connected yet.').waitFor()
    await button(page, 'Connect channel').click()
    await heading(page, 'Connect channel').waitFor()
    const providers = page.getByRole('radiogroup', { name: 'Provider' })
    await providers.getByRole('radio', { name: 'WhatsApp Cloud API' }).check()
    for (const name of ['Access token', 'Phone number ID', 'Business account ID', 'App secret', 'Verify token'])
      await field(page, name).waitFor()
    await providers.getByRole('radio', { name: 'SMPP' }).check()
    await field(page, 'System ID').waitFor()
    await providers.getByRole('radio', { name: 'Twilio' }).check()
    await field(page, 'Name').fill('Orders')
    await field(page, 'Identifier').fill(identifier)
    await field(page, 'Account SID').fill(account_sid)
    await field(page, 'Auth token').fill('not this one')
    await assertPresentable(page)

    await button(page, 'Connect').click()
    await page.getByRole('alert').getByText('upstream_rejected').waitFor()
    await page.reload()
    assert.equal(await field(page, 'Name').inputValue(), 'Orders')
    assert.equal(await field(page, 'Auth token').inputValue(), '', 'a secret is kept nowhere')
    await field(page, 'Auth token').fill(auth_token)
    await button(page, 'Connect').click()
    await field(page, 'Callback address').waitFor()
    owner.mode = 'live'
    const [channel] = (await owner.send('GET', '/v1/channels')).body.data
    assert.equal(await field(page, 'Callback address').inputValue(), `${world.base_url}/hooks/channels/${channel.id}`)
    assert.equal(channel.provider, 'twilio')

    await button(page, 'Copy').waitFor()
    await field(page, 'Test recipient').fill('123')
    await button(page, 'Send test').click()
    await page.getByRole('alert').waitFor()
    await field(page, 'Test recipient').fill('+14155550123')
    await button(page, 'Send test').click()
    await page.getByRole('status').getByText('The test message was queued.').waitFor()
    const [message] = (await owner.send('GET', '/v1/messages')).body.data
    assert.deepEqual([message.to, message.origin.type], ['+14155550123', 'console'])

    await page.getByRole('link', { name: 'Open the channel' }).click()
    await heading(page, 'Orders').waitFor()
    await button(page, 'Change').click()
    const dialog = page.getByRole('dialog', { name: 'Change' })
    await field(dialog, 'Name').fill('Orders <b>2</b>')
    await field(dialog, 'Messages per second').fill('7')
    await button(dialog, 'Save').click()
    await heading(page, 'Orders <b>2</b>').waitFor()
    await page.getByText('7 per second').waitFor()
    await assertPresentableEverywhere(
      opened,
      `channels/${channel.id}`,
      (shown) => heading(shown, 'Orders <b>2</b>').waitFor(),
      'live',
    )

    await button(page, 'Delete').click()
    await button(page.getByRole('dialog', { name: 'Delete' }), 'Delete').click()
    await page.getByText('No channel is connected yet.').waitFor()
    assert.equal((await owner.send('GET', '/v1/channels')).body.data.length, 0)
  },
)

test('test mode shows its channels, and templates as on a phone', { skip: withoutChromium }, async (t) => {
  const opened = await openOwnersConsole(t)
  const { page, show, assertQuiet } = opened
  await show('channels')
  await page.getByRole('link', { name: 'Sandbox SMS' }).waitFor()
  assert.equal(await page.getByRole('table', { name: 'Channels' }).getByRole('row').count(), 4)
  assert.equal(await button(page, 'Connect channel').getAttribute('aria-disabled'), 'true')
  await button(page, 'API').click()
  await page.getByRole('dialog').getByText('/v1/channels').waitFor()
  await page.keyboard.press('Escape')

  await page.getByRole('link', { name: 'Templates', exact: true }).click()
  await heading(page, 'Templates').waitFor()
  assert.equal(await field(page, 'Channel').inputValue(), 'ch_test_whatsapp')
  await page.getByRole('link', { name: 'order_update' }).click()
  await heading(page, 'order_update').waitFor()
  await page.getByRole('region', { name: 'Preview' }).getByText('Your order {{1}} is now {{2}}.').waitFor()
  assertQuiet()

  await assertPresentableEverywhere(opened, 'channels', (shown) => shown.getByRole('table').waitFor())
  await assertPresentableEverywhere(opened, 'templates', (shown) => shown.getByRole('table').waitFor())
  await assertPresentableEverywhere(opened, new URL(page.url()).pathname.split('/test/')[1]!, (shown) =>
    heading(shown, 'order_update').waitFor(),
  )
})
