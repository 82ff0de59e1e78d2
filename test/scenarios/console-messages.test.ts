/** Messages in the console (behaviour: console 6.3). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { withoutChromium } from '../support/chromium.ts'
import {
  assertPresentable,
  assertPresentableEverywhere,
  button,
  field,
  heading,
  inEitherSchemeAndWidth,
  openOwnersConsole,
  titled,
} from '../support/console.ts'
import { until } from '../support/waiting.ts'

const skip = { skip: withoutChromium }

test(
  'a message is sent from the console, found by its filters, and explains why it was not delivered',
  skip,
  async (t) => {
    const { page, show, assertQuiet, account, world } = await openOwnersConsole(t)

    await show('messages')
    await heading(page, 'Messages').waitFor()
    await page.getByText('There are no messages yet.').waitFor()
    await titled(page, 'Messages · TEST · Posthorn')
    await button(page, 'Send message').click()
    const dialog = page.getByRole('dialog', { name: 'Send message' })
    await button(dialog, 'Send').click()
    await dialog.getByText(/`to`/).waitFor()
    await field(dialog, 'Channel').selectOption('ch_test_sms')
    await field(dialog, 'To').fill('+15005550002')
    await field(dialog, 'Message').fill('<b>Your order</b> has left.')
    await field(dialog, 'Reference').fill('order-1042')
    await page.reload()
    await button(page, 'Send message').click()
    assert.equal(await field(dialog, 'Message').inputValue(), '<b>Your order</b> has left.')
    await dialog.getByRole('region', { name: 'Preview' }).getByText('<b>Your order</b> has left.').waitFor()
    await button(dialog, 'Send').click()

    await heading(page, 'Message').waitFor()
    await page.getByRole('region', { name: 'Status' }).getByText('It is waiting to be sent.').waitFor()
    await world.clock.advance(1000)
    await world.settle()
    await world.clock.advance(1000)
    await world.settle()
    await page.reload()
    await page
      .getByRole('region', { name: 'Status' })
      .getByText(/^The provider could not deliver it: .*sandbox_undeliverable\)\.$/)
      .waitFor()
    await page.getByRole('region', { name: 'Preview' }).getByText('<b>Your order</b> has left.').waitFor()
    await page.getByRole('region', { name: 'Timeline' }).getByText('Failed', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'Cost' }).getByText('Refunded').waitFor()
    await page.getByRole('table', { name: 'Attempts' }).getByText('Accepted').waitFor()
    const id = page.url().split('/').at(-1)!
    const { body } = await account.api.get(`/v1/messages/${id}`)
    assert.equal(body.origin.type, 'console')

    await button(page, 'Send again').click()

    await page
      .getByRole('status')
      .getByText(/sent again/)
      .waitFor()
    assert.notEqual(page.url().split('/').at(-1), id)
    assert.equal((await account.api.get('/v1/messages?reference=order-1042')).body.data.length, 2)

    await show('messages?status=delivered')
    await page.getByText('No results match these filters.').waitFor()
    await button(page, 'Clear filters').click()
    await page.getByRole('link', { name: id }).waitFor()
    await field(page, 'Reference').fill('order-1042')
    await page.waitForURL(/reference=order-1042/)
    await page.getByRole('table', { name: 'Messages' }).getByRole('link', { name: id }).click()
    await heading(page, 'Message').waitFor()
    assertQuiet()
  },
)

test('a template is filled field by field, and a waiting message is cancelled once', skip, async (t) => {
  const { page, show, assertQuiet, account, world } = await openOwnersConsole(t)

  await show('messages')
  await button(page, 'Send message').click()
  const dialog = page.getByRole('dialog', { name: 'Send message' })
  await field(dialog, 'Channel').selectOption('ch_test_whatsapp')
  await field(dialog, 'To').fill('+15005550006')
  await field(dialog, 'Type').selectOption('button')
  await dialog.getByRole('region', { name: 'Preview' }).getByText('Will you be at home between 9 and 12?').waitFor()
  await field(dialog, 'Message').fill('{')
  await dialog.getByText(/This is not valid JSON/).waitFor()
  await field(dialog, 'Type').selectOption('template')
  await field(dialog, 'Template').selectOption({ label: 'order_update (en_US)' })
  await field(dialog, 'Body 1').fill('A-1042')
  await field(dialog, 'Body 2').fill('packed')
  await dialog.getByRole('region', { name: 'Preview' }).getByText('Your order A-1042 is now packed.').waitFor()
  await dialog.getByText('More fields').click()
  await field(dialog, 'Send at').fill('2199-01-01')
  await button(dialog, 'Send').click()
  await dialog.getByText(/`send_at`/).waitFor()
  await field(dialog, 'Send at').fill(new Date(world.clock.now() + 86_400_000).toISOString())
  await button(dialog, 'Send').click()

  await heading(page, 'Message').waitFor()
  await page
    .getByRole('region', { name: 'Status' })
    .getByText(/^It is scheduled for/)
    .waitFor()
  const { body } = await account.api.get(`/v1/messages/${page.url().split('/').at(-1)!}`)
  assert.deepEqual(body.content.template, {
    name: 'order_update',
    language: { code: 'en_US' },
    components: [
      {
        type: 'body',
        parameters: [
          { type: 'text', text: 'A-1042' },
          { type: 'text', text: 'packed' },
        ],
      },
    ],
  })
  await button(page, 'Cancel message').click()
  await page.getByRole('region', { name: 'Status' }).getByText('It was cancelled before it was sent.').waitFor()
  const cancel = button(page, 'Cancel message')
  assert.equal(await cancel.getAttribute('aria-disabled'), 'true')
  await page.getByText('Only a message that is still queued can be cancelled.').first().waitFor({ state: 'attached' })
  assertQuiet()
})

test('a message can be sent once the channels have loaded, not before', skip, async (t) => {
  const { page, show, account, assertQuiet } = await openOwnersConsole(t)
  const dialog = page.getByRole('dialog', { name: 'Send message' })
  await show('messages')
  await button(page, 'Send message').click()
  await field(dialog, 'To').fill('+15005550006')
  await field(dialog, 'Message').fill('Your order has left.')
  await button(dialog, 'Close').click()
  const { promise: mayLoad, resolve: load } = Promise.withResolvers<void>()
  await page.route('**/v1/channels?*', async (route) => {
    await mayLoad
    await route.continue()
  })
  await page.reload()

  await button(page, 'Send message').click()
  await dialog.getByRole('button', { name: 'Send', disabled: true }).waitFor()
  load()
  await button(dialog, 'Send').click()
  await heading(page, 'Message').waitFor()

  assert.equal((await account.api.get('/v1/messages')).body.data.length, 1)
  assertQuiet()
})

test('the message screens are accessible in both colour schemes and widths', skip, async (t) => {
  const opened = await openOwnersConsole(t)
  const receiver = opened.world.receiver()
  await opened.account.api.post('/v1/webhook_endpoints', { url: receiver.url, events: ['message.failed'] })
  const sent = await opened.account.api.post('/v1/messages', {
    channel: 'ch_test_sms',
    to: '+15005550001',
    type: 'text',
    text: { body: 'Hello' },
  })
  await opened.world.settle()
  await until('the failure to be reported', () => receiver.received.length === 1)
  await opened.world.settle()

  const { page, show, assertQuiet } = opened
  await assertPresentableEverywhere(opened, 'messages', (list) =>
    list.getByRole('link', { name: sent.body.id }).waitFor(),
  )
  await show('messages')
  await button(page, 'Send message').click()
  await page.getByRole('dialog', { name: 'Send message' }).getByLabel('Message', { exact: true }).waitFor()
  await inEitherSchemeAndWidth(page, () => assertPresentable(page))
  await assertPresentableEverywhere(opened, `messages/${sent.body.id}`, async (one) => {
    await one.getByRole('table', { name: 'Attempts' }).getByText('Refused').waitFor()
    const deliveries = one.getByRole('table', { name: 'Webhook deliveries' })
    await deliveries.getByRole('link', { name: receiver.url }).waitFor()
    await deliveries.getByText(/^200 in \d+ ms$/).waitFor()
  })
  assertQuiet()
})
