/** Webhook endpoints, deliveries and events in the console. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { withoutChromium } from '../support/chromium.ts'
import {
  assertPresentable,
  assertPresentableEverywhere,
  button,
  field,
  heading,
  openOwnersConsole,
} from '../support/console.ts'

test(
  'an endpoint is created, tested, changed and deleted, and a failed delivery is repeated',
  { skip: withoutChromium },
  async (t) => {
    const opened = await openOwnersConsole(t)
    const { page, show, owner, world, assertQuiet } = opened
    const receiver = world.receiver()
    await show('webhooks')
    await page.getByText('There are no endpoints yet.').waitFor()
    await button(page, 'New endpoint').click()
    const dialog = page.getByRole('dialog', { name: 'New endpoint' })
    await field(dialog, 'URL').fill('http://10.0.0.1/hooks')
    await field(dialog, 'message.delivered').check()
    assert.equal(await field(dialog, 'All events').isChecked(), false)
    await field(dialog, 'message.failed').check()
    await dialog.getByText('More settings').click()
    await field(dialog, 'Verification token').fill('a token of ours')
    await field(dialog, 'whatsapp').check()
    await assertPresentable(page)
    await button(dialog, 'Create').click()
    await dialog.getByText('`url` must start with https://.').waitFor()

    await page.reload()
    await button(page, 'New endpoint').click()
    assert.equal(await field(dialog, 'message.failed').isChecked(), true, 'what was entered survives a reload')
    await field(dialog, 'URL').fill(receiver.url)
    await field(dialog, 'Description').fill('Orders <b>&</b>')
    await button(dialog, 'Create').click()
    const secret = page.getByRole('dialog', { name: 'Signing secret' })
    await secret.getByText(/^whsec_/).waitFor()
    await page.keyboard.press('Escape')
    await button(secret, 'I have stored it').click()
    await page.getByRole('status').getByText('The endpoint was created.').waitFor()
    const [endpoint] = (await owner.send('GET', '/v1/webhook_endpoints')).body.data
    assert.deepEqual(
      [endpoint.events, endpoint.filters, endpoint.description, endpoint.has_verification_token],
      [['message.delivered', 'message.failed'], { channel_types: ['whatsapp'] }, 'Orders <b>&</b>', false],
      'the verification token is a secret, which no reload brings back',
    )

    await page.getByRole('link', { name: receiver.url }).click()
    await heading(page, receiver.url).waitFor()
    const deliveries = page.getByRole('table', { name: 'Deliveries' })
    receiver.answerNext({ status: 500 })
    await button(page, 'Send test event').click()
    await page.getByRole('status').getByText('webhook.test was not delivered').waitFor()
    await deliveries.getByText('Pending').waitFor()
    assert.equal(await button(deliveries, 'Retry').getAttribute('aria-disabled'), 'true')
    await button(page, 'Disable').click()
    await button(page.getByRole('dialog', { name: 'Disable' }), 'Disable').click()
    await deliveries.getByText('Failed').waitFor()
    await button(page, 'Enable').click()
    await page.getByRole('status').getByText('Enabled.').waitFor()
    await button(deliveries, 'Retry').click()
    await page.getByRole('status').getByText('webhook.test was delivered: response 200').waitFor()
    await deliveries.getByText('Delivered').waitFor()
    await button(page, 'Replay failed').click()
    await page.getByRole('status').getByText('No deliveries have failed.').waitFor()
    for (const answer of [500, 500]) {
      receiver.answerNext({ status: answer })
      await owner.send('POST', `/v1/webhook_endpoints/${endpoint.id}/test`)
    }
    await owner.send('PATCH', `/v1/webhook_endpoints/${endpoint.id}`, { status: 'disabled' })
    await page.reload()
    await page.getByRole('button', { name: 'Replay failed', disabled: true }).waitFor()
    await owner.send('PATCH', `/v1/webhook_endpoints/${endpoint.id}`, { status: 'active' })
    await page.reload()
    await button(page, 'Replay failed').click()
    const replaying = page.getByRole('dialog', { name: 'Replay failed' })
    await replaying.getByText('2 deliveries failed. Replaying makes one attempt each').waitFor()
    receiver.answerNext({ status: 500 })
    await button(replaying, 'Replay failed').dblclick()
    await page.getByRole('status').getByText('Replaying 2 deliveries.').waitFor()
    await world.settle()
    await page.getByRole('status').getByText('1 delivered, 1 failed again.').waitFor()

    await field(page, 'Status').selectOption('failed')
    await deliveries.getByText('Delivered').first().waitFor({ state: 'detached' })
    await deliveries.getByText('Failed').waitFor()
    await field(page, 'Status').selectOption('')
    await deliveries.getByText('Delivered').first().waitFor()

    await button(page, 'Roll secret').click()
    const rolling = page.getByRole('dialog', { name: 'Roll secret' })
    await field(rolling, 'Keep the previous secret valid for').selectOption('86400')
    await button(rolling, 'Roll secret').click()
    await button(secret, 'I have stored it').click()
    await button(page, 'Change').click()
    const changing = page.getByRole('dialog', { name: 'Change' })
    await field(changing, 'All events').check()
    await button(changing, 'Save').click()
    await page.getByRole('region', { name: 'Endpoint' }).getByText('All events').waitFor()
    await assertPresentableEverywhere(opened, `webhooks/${endpoint.id}`, (shown) =>
      heading(shown, receiver.url).waitFor(),
    )
    await assertPresentableEverywhere(opened, 'webhooks', (shown) =>
      shown.getByRole('table', { name: 'Webhooks' }).waitFor(),
    )

    // the rate limit follows the fixed clock
    await world.clock.advance(2_000)
    await button(page, 'Delete').click()
    await button(page.getByRole('dialog', { name: 'Delete' }), 'Delete').click()
    await page.getByText('There are no endpoints yet.').waitFor()
    assertQuiet()
  },
)

test(
  'the event feed is searched by type and object, and an event is shown as receivers get it',
  { skip: withoutChromium },
  async (t) => {
    const opened = await openOwnersConsole(t)
    const { page, show, owner, world, assertQuiet } = opened
    await show('events')
    await page.getByText('There are no events yet.').waitFor()
    const send = { channel: 'ch_test_sms', to: '+15005550006', type: 'text', text: { body: 'Hello' } }
    const message = (await owner.send('POST', '/v1/messages', send)).body
    await world.clock.advance(60_000)
    await world.settle()

    await page.reload()
    await field(page, 'Object id').fill(message.id)
    await field(page, 'Type').fill('message.delivered')
    await page.waitForURL(/type=message\.delivered/)
    const table = page.getByRole('table', { name: 'Events' })
    // the old rows remain until the new ones arrive
    await table.getByRole('cell', { name: 'message.sent' }).waitFor({ state: 'detached' })
    await table.getByRole('cell', { name: 'message.delivered' }).waitFor()
    assert.equal(await table.getByRole('row').count(), 2)
    await assertPresentableEverywhere(opened, 'events', (shown) =>
      shown.getByRole('table', { name: 'Events' }).waitFor(),
    )
    await field(page, 'Type').fill('nothing')
    await page.getByRole('alert').getByText('parameter_invalid').waitFor()
    await field(page, 'Type').fill('message.delivered')
    await table.getByRole('link', { name: /^evt_/ }).click()
    await heading(page, 'message.delivered').waitFor()
    const shown = JSON.parse(await page.getByRole('region', { name: 'Event' }).locator('pre').innerText())
    assert.deepEqual([shown.type, shown.data.object.id], ['message.delivered', message.id])
    await assertPresentableEverywhere(opened, `events/${shown.id}`, (other) =>
      heading(other, 'message.delivered').waitFor(),
    )
    assertQuiet()
  },
)
