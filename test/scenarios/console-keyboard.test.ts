/** Five tasks with the keyboard alone (behaviour: console 6.1). */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { ownerPassword } from '../support/console-api.ts'
import { withoutChromium } from '../support/chromium.ts'
import { button, field, heading, openConsole, openOwnersConsole, startConsoleWorld } from '../support/console.ts'
import { until } from '../support/waiting.ts'

const stopsMax = 90

async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let stop = 0; stop < stopsMax; stop++) {
    if ((await target.and(page.locator('*:focus')).count()) > 0) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`${String(target)} is no stop of the keyboard`)
}

async function press(page: Page, target: Locator, key = 'Enter'): Promise<void> {
  await tabTo(page, target)
  await page.keyboard.press(key)
}

async function type(page: Page, target: Locator, text: string): Promise<void> {
  await tabTo(page, target)
  await page.keyboard.type(text)
}

async function choose(page: Page, select: Locator, label: string): Promise<void> {
  await until(
    `${label} to be chosen`,
    async () => {
      await type(page, select, label)
      const chosen = await select.locator('option:checked').textContent()
      if (chosen?.startsWith(label) !== true) await page.keyboard.press('Shift+Tab')
      return chosen
    },
    (chosen) => chosen?.startsWith(label) === true,
  )
}

test('a new owner sends a first delivered message in five steps', { skip: withoutChromium }, async (t) => {
  const world = await startConsoleWorld(t)
  await world.account()
  const link = (await world.services.operators.offerSetup())!
  const { page, goto, assertQuiet } = await openConsole(t, world.base_url)
  await goto(link.slice(world.base_url.length))
  await heading(page, 'Set up Posthorn').waitFor()
  await type(page, field(page, 'Your name'), 'Olivia')
  await type(page, field(page, 'E-mail'), 'owner@example.com')
  await type(page, field(page, 'Password'), ownerPassword)
  let steps = 0
  const step = async (target: Locator) => {
    steps++
    await press(page, target)
  }
  await step(button(page, 'Create owner'))
  await heading(page, 'Home').waitFor()
  await step(page.getByRole('region', { name: 'First steps' }).getByRole('link', { name: 'Send a test message' }))
  const dialog = page.getByRole('dialog', { name: 'Send message' })
  if (!(await dialog.isVisible())) await step(button(page, 'Send message'))
  await choose(page, field(dialog, 'Channel'), 'Sandbox SMS')
  await type(page, field(dialog, 'To'), '+15005550006')
  await type(page, field(dialog, 'Message'), 'Hello from Posthorn')
  await step(button(dialog, 'Send'))
  await heading(page, 'Message').waitFor()
  await world.clock.advance(1000)
  await world.settle()
  await page.getByRole('region', { name: 'Status' }).getByText('Delivered').first().waitFor()
  assert.ok(steps <= 5, `${steps} steps`)
  assertQuiet()
})

test(
  'a failed message, a campaign, failed deliveries and an automation are handled by keyboard',
  { skip: withoutChromium },
  async (t) => {
    const { page, show, account, owner, world, assertQuiet } = await openOwnersConsole(t, {
      platform: { settings: { webhook_retry_delays: [] } },
    })
    const pass = async (ms: number) => {
      await world.clock.advance(ms)
      await world.settle()
    }
    const lost = (
      await account.api.post('/v1/messages', {
        channel: 'ch_test_sms',
        to: '+15005550001',
        type: 'text',
        text: { body: 'Hi' },
      })
    ).body
    await pass(1000)

    await show('')
    await heading(page, 'Home').waitFor()
    await page.keyboard.press('Control+k')
    await type(page, page.getByRole('combobox', { name: 'Search everything' }), lost.id)
    await page.getByRole('dialog').getByRole('option').first().waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page
      .getByRole('region', { name: 'Status' })
      .getByText(/^The provider could not deliver it/)
      .waitFor()

    await press(page, page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Campaigns' }))
    await press(page, button(page, 'New campaign'))
    await type(page, field(page, 'Name'), 'By keys')
    await choose(page, field(page, 'Channel'), 'Sandbox SMS')
    await tabTo(page, page.getByRole('radio', { name: 'Segment' }))
    for (let n = 0; n < 3; n++) await page.keyboard.press('ArrowDown')
    await type(page, page.getByRole('textbox', { name: 'Recipients' }), '+15005550006')
    await type(page, field(page, 'Message'), 'The sale begins.')
    await press(page, page.getByRole('checkbox', { name: 'Everybody here has agreed to be contacted' }), 'Space')
    await press(page, button(page, 'Launch'))
    const launching = page.getByRole('dialog', { name: 'Launch campaign' })
    await launching.getByText('1 of 1 recipients would receive it now.').waitFor()
    await press(page, button(launching, 'Launch now'))
    await page.getByRole('progressbar', { name: 'Progress' }).waitFor()
    for (let n = 0; n < 3; n++) await pass(1000)
    assert.equal((await owner.send('GET', '/v1/campaigns')).body.data[0].status, 'completed')

    const receiver = world.receiver()
    const endpoint = (
      await account.api.post('/v1/webhook_endpoints', { url: receiver.url, events: ['campaign.completed'] })
    ).body
    receiver.answerNext({ status: 500 })
    await account.api.post(`/v1/webhook_endpoints/${endpoint.id}/test`)
    await show(`webhooks/${endpoint.id}`)
    await press(page, button(page, 'Replay failed'))
    const replaying = page.getByRole('dialog', { name: 'Replay failed' })
    await replaying.getByText('1 delivery failed. Replaying makes one attempt each').waitFor()
    await press(page, button(replaying, 'Replay failed'))
    await page.getByRole('status').getByText('Replaying 1 delivery.').waitFor()
    await world.settle()
    await page.getByRole('status').getByText('Replayed 1 delivery: all succeeded.').waitFor()

    const source = (
      await account.api.post('/v1/integration_sources', { platform: 'custom', external_id: 'shop-1', name: 'Shop' })
    ).body
    await show(`automations/new?source=${source.id}&event_type=order.paid`)
    await type(page, field(page, 'Name'), 'Thanks')
    await choose(page, field(page, 'Channel'), 'Sandbox SMS')
    await type(page, field(page, 'Message'), 'Thank you, {{first_name}}.')
    await press(page, button(page, 'Simulate'))
    const simulating = page.getByRole('dialog', { name: 'Simulate' })
    await press(page, button(simulating, 'Simulate'))
    await simulating.getByText('Thank you, Ada.').waitFor()
    await page.keyboard.press('Escape')
    await press(page, button(page, 'Activate'))
    await heading(page, 'Thanks').waitFor()
    assertQuiet()
  },
)
