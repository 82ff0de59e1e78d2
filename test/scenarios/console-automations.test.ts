/** Sources and automations in the console (behaviour: console 6.6). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { withoutChromium } from '../support/chromium.ts'
import { assertPresentableEverywhere, button, field, heading, openOwnersConsole } from '../support/console.ts'

test(
  'a source is created, its key is shown once, an automation follows its events, and receipts are listed',
  { skip: withoutChromium },
  async (t) => {
    const opened = await openOwnersConsole(t)
    const { page, show, owner, world, account, assertQuiet } = opened
    await show('integrations')
    await page.getByText('There are no sources yet.').waitFor()
    await button(page, 'New source').click()
    const creating = page.getByRole('dialog', { name: 'New source' })
    await field(creating, 'Platform').fill('custom')
    await field(creating, 'Store id').fill('shop-1')
    await field(creating, 'Name').fill('My <i>shop</i>')
    await button(creating, 'Create').click()
    const secret = page.getByRole('dialog', { name: 'Source key' })
    await secret.getByText(/^svc_src_/).waitFor()
    await page.keyboard.press('Escape')
    await button(secret, 'I have stored it').click()
    await heading(page, 'My <i>shop</i>').waitFor()
    const source = new URL(page.url()).pathname.split('/').at(-1)!

    await show(`automations/new?source=${source}&event_type=order.paid`)
    await field(page, 'Name').fill('Thanks')
    assert.deepEqual(
      [await field(page, 'Source').inputValue(), await field(page, 'Event type').inputValue()],
      [source, 'order.paid'],
    )
    assert.equal(await field(page, 'Category').inputValue(), 'transactional')
    await field(page, 'Channel').selectOption('ch_test_sms')
    await field(page, 'Message').fill('Thank you, {{first_name}}, for {{data.order.number}}.')
    await field(page, 'Delay in minutes').fill('1')
    await button(page, 'Simulate').click()
    const simulating = page.getByRole('dialog', { name: 'Simulate' })
    await button(simulating, 'Simulate').click()
    await simulating.getByText('Thank you, Ada, for 1042.').waitFor()
    await page.keyboard.press('Escape')
    await button(page, 'Activate').click()
    await heading(page, 'Thanks').waitFor()
    const [stored] = (await owner.send('GET', '/v1/automations')).body.data
    assert.deepEqual([stored.status, stored.delay_seconds, stored.event_type], ['active', 60, 'order.paid'])

    const reported = {
      source,
      type: 'order.paid',
      event_id: 'e1',
      customer: { phone: '+15005550006', first_name: 'Ada' },
      data: { order: { number: '7' } },
    }
    assert.equal((await account.api.post('/v1/automation_events', reported)).status, 202)
    await world.clock.advance(60_000)
    await world.settle()
    await page.reload()
    await page.getByRole('table', { name: 'Runs' }).getByText('Sent').waitFor()
    await field(page, 'Name').fill('Thanks again')
    await button(page, 'Save').click()
    await heading(page, 'Thanks again').waitFor()
    await button(page, 'Simulate').click()
    await field(simulating, 'Recent event').waitFor()
    await button(simulating, 'Simulate').click()
    await simulating.getByText('Thank you, Ada, for 7.').waitFor()
    await page.keyboard.press('Escape')
    await assertPresentableEverywhere(opened, `automations/${stored.id}`, (shown) => shown.getByRole('table').waitFor())
    await assertPresentableEverywhere(opened, 'automations', (shown) =>
      shown.getByRole('link', { name: 'Thanks again' }).waitFor(),
    )

    await show(`integrations/${source}`)
    await page.getByRole('table', { name: 'Receipts' }).getByText('order.paid').waitFor()
    await assertPresentableEverywhere(opened, `integrations/${source}`, (shown) =>
      shown.getByRole('table').getByText('order.paid').waitFor(),
    )
    await button(page, 'Roll key').click()
    await button(page.getByRole('dialog', { name: 'Roll key' }), 'Roll key').click()
    await button(page.getByRole('dialog', { name: 'Source key' }), 'I have stored it').click()
    await button(page, 'Disable').click()
    await page.getByRole('status').getByText('The source is disabled').waitFor()
    assert.equal((await owner.send('GET', `/v1/integration_sources/${source}`)).body.status, 'disabled')
    assertQuiet()
  },
)
