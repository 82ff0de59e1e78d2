/** Campaigns in the console (behaviour: console 6.5). */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { withoutChromium } from '../support/chromium.ts'
import { closing } from '../support/closing.ts'
import {
  assertPresentable,
  assertPresentableEverywhere,
  button,
  field,
  heading,
  openOwnersConsole,
} from '../support/console.ts'

async function choosing(
  page: Page,
  name: string,
  file: { name: string; mimeType: string; buffer: Buffer },
): Promise<void> {
  const chooser = page.waitForEvent('filechooser')
  await button(page, name).click()
  await (await chooser).setFiles(file)
}

/** Only live channels have templates that change. */
async function changeTemplates(
  t: TestContext,
  page: Page,
  change: (templates: Record<string, unknown>[]) => Record<string, unknown>[],
): Promise<void> {
  const answered = () => page.unrouteAll({ behavior: 'wait' })
  await answered()
  closing(t, answered)
  await page.route('**/templates?*', async (route) => {
    const response = await route.fetch()
    const list = (await response.json()) as { data: Record<string, unknown>[] }
    await route.fulfill({ response, json: { ...list, data: change(list.data) } })
  })
}

async function writeCampaign(page: Page, name: string, recipients: string): Promise<void> {
  await field(page, 'Name').fill(name)
  await field(page, 'Channel').selectOption('ch_test_sms')
  await page.getByRole('radiogroup', { name: 'Audience' }).getByRole('radio', { name: 'Recipients' }).check()
  await page.getByRole('textbox', { name: 'Recipients' }).fill(recipients)
  await field(page, 'Message').fill('Hello {{first_name}}, the sale begins.')
}

test(
  'input entered while a draft is being saved stays, and is saved with the next press',
  { skip: withoutChromium },
  async (t) => {
    const { page, show, account, assertQuiet } = await openOwnersConsole(t)
    await show('campaigns/new')
    await writeCampaign(page, 'Sale', '+15005550006,Ada')
    const entered = Promise.withResolvers<void>()
    await page.route('**/v1/campaigns', async (route) => {
      if (route.request().method() === 'POST') await entered.promise
      await route.continue()
    })
    await button(page, 'Save draft').click()
    await field(page, 'Name').fill('Sale of the year')
    entered.resolve()
    await page.getByRole('status').getByText('The draft is saved.').waitFor()
    assert.equal(await field(page, 'Name').inputValue(), 'Sale of the year')
    await button(page, 'Save draft').click()
    await heading(page, 'Sale of the year').waitFor()
    const stored = (await account.api.get('/v1/campaigns')).body.data
    assert.deepEqual(
      stored.map(({ name }: { name: string }) => name),
      ['Sale of the year'],
    )
    assertQuiet()
  },
)

test(
  'a campaign is written, kept over a reload, checked, launched and followed to its end',
  { skip: withoutChromium },
  async (t) => {
    const opened = await openOwnersConsole(t)
    const { page, show, owner, world, assertQuiet } = opened
    await show('campaigns')
    await page.getByText('There are no campaigns yet.').waitFor()
    await button(page, 'New campaign').click()
    await heading(page, 'New campaign').waitFor()
    await writeCampaign(page, 'Sale <b>now</b>', '+15005550006,Ada\n+15005550001,Bob')
    await field(page, 'Replacement for an empty {{first_name}}').fill('you')
    await page.getByRole('region', { name: 'Estimate' }).getByText('2 recipients', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'Preview' }).getByText('Hello Ada, the sale begins.').waitFor()
    await page.getByRole('region', { name: 'Estimate' }).getByText('Cost: ').waitFor()
    await page.reload()
    assert.equal(await field(page, 'Message').inputValue(), 'Hello {{first_name}}, the sale begins.')
    await assertPresentable(page)

    await button(page, 'Send test').click()
    const testing = page.getByRole('dialog', { name: 'Send test' })
    await field(testing, 'Test recipient').fill('+15005550010')
    await button(testing, 'Send test').click()
    await testing.getByRole('status').getByText('The test message was queued.').waitFor()
    await page.keyboard.press('Escape')
    await page.reload()
    await field(page, 'Messages per second').fill('0')
    await button(page, 'Save draft').click()
    await page.getByRole('alert').getByText('parameter_invalid').waitFor()
    await field(page, 'Messages per second').fill('50')
    await button(page, 'Launch').click()
    const launching = page.getByRole('dialog', { name: 'Launch campaign' })
    await launching.getByRole('list', { name: 'Checks' }).getByRole('listitem').first().waitFor()
    await launching.getByText('2 of 2 recipients would receive it now.').waitFor()
    assert.equal(
      await button(launching, 'Launch now').getAttribute('aria-disabled'),
      'true',
      'nobody has said that they agreed',
    )
    await assertPresentable(page)
    await page.keyboard.press('Escape')
    await page.getByRole('checkbox', { name: 'Everybody here has agreed to be contacted' }).check()
    await button(page, 'Launch').click()
    await button(launching, 'Launch now').click()

    await heading(page, 'Sale <b>now</b>').waitFor()
    await page.getByRole('progressbar', { name: 'Progress' }).waitFor()
    for (let n = 0; n < 3; n++) {
      await world.clock.advance(1000)
      await world.settle()
    }
    const { data } = (await owner.send('GET', '/v1/campaigns')).body
    assert.deepEqual([data.length, data[0].status, data[0].merge_fallbacks], [1, 'completed', { first_name: 'you' }])
    await page.reload()
    await page.getByRole('table', { name: 'Recipients' }).getByText('+15005550001').waitFor()
    await page.getByRole('region', { name: 'Results' }).getByText('1 (50%)').first().waitFor()
    assert.equal(await button(page, 'Pause').getAttribute('aria-disabled'), 'true')
    assertQuiet()
    await assertPresentableEverywhere(opened, `campaigns/${data[0].id}`, (shown) =>
      shown.getByRole('table').getByText('+15005550001').waitFor(),
    )

    await button(page, 'Send to failed').click()
    await button(page, 'Launch').waitFor()
    assert.equal(await page.getByRole('textbox', { name: 'Recipients' }).inputValue(), '+15005550001,Bob')
  },
)

test(
  'a running campaign is paused, resumed, cancelled and duplicated; a template has a field for each parameter',
  { skip: withoutChromium },
  async (t) => {
    const opened = await openOwnersConsole(t)
    const { page, show, owner } = opened
    await show('campaigns/new')
    await field(page, 'Name').fill('Orders')
    await field(page, 'Channel').selectOption('ch_test_whatsapp')
    await field(page, 'Type').selectOption('template')
    await field(page, 'Template').selectOption({ label: 'order_update (en_US)' })
    await field(page, 'Body 1').fill('A-1042')
    await field(page, 'Body 2').fill('on its way')
    await page.getByRole('region', { name: 'Preview' }).getByText('Your order A-1042 is now on its way.').waitFor()
    await page.getByRole('radio', { name: 'Recipients' }).check()
    await choosing(page, 'Read a file', {
      name: 'people.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('\uFEFFto,first_name,city\n+15005550006,Ada,"Berlin, Mitte"\n+15005550010,Bob,\n'),
    })
    await page.getByRole('status').getByText('2 lines were read.').waitFor()
    await field(page, 'Send at').fill('2026-02-01 10:00')
    await field(page, 'Messages per second').fill('1')
    await page.getByRole('checkbox', { name: 'Everybody here has agreed to be contacted' }).check()
    await button(page, 'Save draft').click()
    await heading(page, 'Orders').waitFor()
    const { data } = (await owner.send('GET', '/v1/campaigns')).body
    const stored = (await owner.send('GET', `/v1/campaigns/${data[0].id}`)).body
    assert.equal(stored.schedule.send_at, '2026-02-01T09:00:00.000Z')
    assert.deepEqual(stored.audience.recipients[0], {
      to: '+15005550006',
      first_name: 'Ada',
      variables: { city: 'Berlin, Mitte' },
    })
    assert.equal(await field(page, 'Body 2').inputValue(), 'on its way')
    assert.equal(await field(page, 'Send at').inputValue(), '2026-02-01 10:00')
    await assertPresentableEverywhere(opened, `campaigns/${stored.id}`, (shown) => button(shown, 'Launch').waitFor())

    await button(page, 'Launch').click()
    await button(page.getByRole('dialog', { name: 'Launch campaign' }), 'Launch now').click()
    await button(page, 'Pause').click()
    await page.getByRole('status').getByText('Paused.').waitFor()
    await button(page, 'Resume').click()
    await page.getByRole('status').getByText('Resumed.').waitFor()
    await button(page, 'Cancel campaign').click()
    await button(page.getByRole('dialog', { name: 'Cancel campaign' }), 'Cancel campaign').click()
    await page.getByRole('status').getByText('Cancelled.').waitFor()
    await button(page, 'Duplicate').click()
    await button(page, 'Launch').waitFor()

    await show('campaigns?status=failed')
    await page.getByText('No results match these filters.').waitFor()
    await button(page, 'Clear filters').click()
    await page.getByRole('table', { name: 'Campaigns' }).getByRole('link', { name: 'Orders' }).first().waitFor()
    await assertPresentableEverywhere(opened, 'campaigns', (shown) => shown.getByRole('table').waitFor())
  },
)

test(
  'a file is uploaded and linked; a draft keeps a template that can no longer be sent, and its field says so',
  { skip: withoutChromium },
  async (t) => {
    const opened = await openOwnersConsole(t)
    const { page, show, owner, world } = opened
    const picture = { name: 'sale.png', mimeType: 'image/png', buffer: Buffer.from('\x89PNG\r\n\x1a\n...', 'latin1') }
    await show('campaigns/new')
    await field(page, 'Name').fill('Pictures')
    await field(page, 'Channel').selectOption('ch_test_whatsapp')
    await field(page, 'Type').selectOption('attachments')
    await choosing(page, 'Upload', {
      ...picture,
      name: 'page.html',
      buffer: Buffer.from('<!doctype html><script></script>'),
    })
    await page.getByRole('alert').getByText('parameter_invalid').waitFor()
    await choosing(page, 'Upload', picture)
    await page.getByRole('status').getByText('The file is linked.').waitFor()
    const [linked] = JSON.parse(await field(page, 'Message').inputValue())
    const files = await world.pool<{ id: string }[]>`select id from media_files`
    assert.deepEqual([linked.type, files.length], ['image', 1])
    assert.ok(linked.url.includes(`/media/${files[0]!.id}?`), linked.url)
    await field(page, 'Type').selectOption('text')
    await field(page, 'Message').fill('Look:')
    await choosing(page, 'Upload', picture)
    await page.getByRole('region', { name: 'Preview' }).getByText('/media/med_').waitFor()
    assert.match(await field(page, 'Message').inputValue(), /^Look:\nhttp/)

    await field(page, 'Type').selectOption('template')
    await field(page, 'Template').selectOption({ label: 'order_update (en_US)' })
    assert.equal(await button(page, 'Upload').getAttribute('aria-disabled'), 'true', 'it has no place for a file')
    await field(page, 'Body 1').fill('{{first_name}}')
    await field(page, 'Body 2').fill('on its way')
    await page.getByRole('radio', { name: 'Recipients' }).check()
    await page.getByRole('textbox', { name: 'Recipients' }).fill('+15005550006,Ada\n+15005550001,Bob')
    await page.getByRole('region', { name: 'Preview' }).getByText('Your order Ada is now on its way.').waitFor()
    await button(page, 'Save draft').click()
    await heading(page, 'Pictures').waitFor()
    const [{ id }] = (await owner.send('GET', '/v1/campaigns')).body.data
    await changeTemplates(t, page, (all) => all.map((one) => ({ ...one, status: 'PAUSED' })))
    await page.reload()
    await page.getByText('This template is PAUSED and cannot be sent now.').waitFor()
    assert.equal(await field(page, 'Body 2').inputValue(), 'on its way')
    await changeTemplates(t, page, (all) => all.filter((one) => one['name'] !== 'order_update'))
    await page.evaluate(() => sessionStorage.clear())
    await page.reload()
    await page.getByText('The channel no longer has this template.').waitFor()
    await field(page, 'Name').fill('Renamed')
    await button(page, 'Save draft').click()
    await heading(page, 'Renamed').waitFor()
    const { name, message } = (await owner.send('GET', `/v1/campaigns/${id}`)).body
    assert.deepEqual([name, message.template.name, message.template.components.length], ['Renamed', 'order_update', 1])
    await assertPresentable(page)
  },
)
