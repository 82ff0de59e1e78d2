/** Actions of the console happen once (behaviour: console 6.9). */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import type { Page } from 'playwright-core'
import { closing } from '../support/closing.ts'
import { withoutChromium } from '../support/chromium.ts'
import { button, field, heading, openConsole, openOwnersConsole, signInOn } from '../support/console.ts'
import { ownerPassword } from '../support/console-api.ts'
import { makeKey } from '../support/load.ts'
import { serviceProcess } from '../support/service.ts'

async function losingAnswers(page: Page, address: string, times: number): Promise<void> {
  let left = times
  await page.route(address, async (route) => {
    if (route.request().method() !== 'POST' || left-- <= 0) return await route.continue()
    await route.fetch()
    await route.abort()
  })
}

const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Send message' })

async function write(page: Page, body: string): Promise<void> {
  await button(page, 'Send message').click()
  await field(dialogOf(page), 'Channel').selectOption('ch_test_sms')
  await field(dialogOf(page), 'To').fill('+15005550006')
  await field(dialogOf(page), 'Message').fill(body)
}

test(
  'a message is sent once despite a lost answer, a reload, and a copy of the tab',
  { skip: withoutChromium },
  async (t) => {
    const { page, show, account, assertQuiet } = await openOwnersConsole(t)
    // plain http from another machine lacks both
    await page.context().addInitScript(() => {
      Object.defineProperty(crypto, 'randomUUID', { value: undefined })
      Object.defineProperty(navigator, 'clipboard', { value: undefined })
    })
    const sent = async (path = '') => (await account.api.get(`/v1/messages${path}`)).body.data.length as number
    await show('messages')
    await losingAnswers(page, '**/v1/messages', 2)
    await write(page, 'Your order has left.')
    const copying = page.waitForEvent('popup')
    await page.evaluate('void window.open(location.href)')
    const copy = await copying
    await page.bringToFront()
    await button(dialogOf(page), 'Send').click()
    await dialogOf(page).getByRole('alert').waitFor()
    await page.reload()
    await button(page, 'Send message').click()
    assert.equal(await field(dialogOf(page), 'Message').inputValue(), 'Your order has left.')
    await button(dialogOf(page), 'Send').click()
    await dialogOf(page).getByRole('alert').waitFor()
    await button(dialogOf(page), 'Send').click()
    await heading(page, 'Message').waitFor()
    assert.equal(await sent(), 1)

    await copy.bringToFront()
    await button(copy, 'Send message').click()
    assert.equal(await field(dialogOf(copy), 'Message').inputValue(), 'Your order has left.')
    await button(dialogOf(copy), 'Send').click()
    await heading(copy, 'Message').waitFor()
    assert.equal(new URL(copy.url()).pathname, new URL(page.url()).pathname)
    assert.equal(await sent(), 1)

    await copy.close()
    await show('messages')
    await write(page, 'Your order has left.')
    await button(dialogOf(page), 'Send').click()
    await heading(page, 'Message').waitFor()
    assert.equal(await sent(), 2)
    await losingAnswers(page, '**/v1/messages', 1)
    await button(page, 'Send again').click()
    await page.getByRole('alert').waitFor()
    await page.reload()
    const before = page.url()
    await button(page, 'Send again').click()
    await page.waitForURL((url) => url.href !== before)
    assert.equal(await sent(), 3)

    await button(page, 'API').click()
    await button(page, 'Copy').first().click()
    await button(page, 'Copied').first().waitFor()
    assertQuiet()
  },
)

test(
  'a refused message can be sent again after the cause is fixed, also after a reload',
  { skip: withoutChromium },
  async (t) => {
    const { page, show, account, assertQuiet } = await openOwnersConsole(t)
    const contact = await account.api.post('/v1/contacts', { phone: '+15005550006' })
    await account.api.patch(`/v1/contacts/${contact.body.id}`, { blocked: true })
    await show('messages')
    await write(page, 'Your order has left.')
    await button(dialogOf(page), 'Send').click()
    await dialogOf(page)
      .getByText(/is blocked/)
      .first()
      .waitFor()
    await account.api.patch(`/v1/contacts/${contact.body.id}`, { blocked: false })
    await page.reload()
    await button(page, 'Send message').click()
    await button(dialogOf(page), 'Send').click()
    await heading(page, 'Message').waitFor()

    await account.api.patch(`/v1/contacts/${contact.body.id}`, { blocked: true })
    await button(page, 'Send again').click()
    await page.getByRole('alert').waitFor()
    await account.api.patch(`/v1/contacts/${contact.body.id}`, { blocked: false })
    const before = page.url()
    await button(page, 'Send again').click()
    await page.waitForURL((url) => url.href !== before)
    assert.equal((await account.api.get('/v1/messages')).body.data.length, 2)
    assertQuiet()
  },
)

test('the same reply twice is two messages, also without browser storage', { skip: withoutChromium }, async (t) => {
  const { page, show, account, world, assertQuiet } = await openOwnersConsole(t)
  await page.context().addInitScript(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException('full', 'QuotaExceededError')
    }
  })
  await account.api.post('/v1/test/inbound_messages', {
    channel: 'ch_test_sms',
    from: '+15005550006',
    type: 'text',
    text: { body: 'Is it there?' },
  })
  await page.clock.setFixedTime(world.clock.now() + 1000)
  await show('inbox')
  await page
    .getByRole('list', { name: 'Conversations' })
    .getByRole('link', { name: '+15005550006', exact: true })
    .click()
  for (const times of [1, 2]) {
    await field(page, 'Reply').fill('Yes')
    const answer = page.waitForResponse(
      (response) => response.request().method() === 'POST' && response.url().endsWith('/v1/messages'),
    )
    await button(page, 'Send reply').click()
    assert.equal((await answer).headers()['idempotent-replayed'], undefined)
    await page
      .getByRole('log', { name: 'Conversation' })
      .getByText('Yes', { exact: true })
      .nth(times - 1)
      .waitFor()
  }
  assert.equal((await account.api.get('/v1/messages?direction=outbound')).body.data.length, 2)
  assertQuiet()
})

test(
  'a campaign is launched once by two tabs, and by a tab whose answer was lost',
  { skip: withoutChromium },
  async (t) => {
    const { page, show, account, world, window, assertQuiet } = await openOwnersConsole(t)
    const draft = await account.api.post('/v1/campaigns', {
      name: 'Sale',
      channel: 'ch_test_sms',
      message: { type: 'text', text: { body: 'The sale begins.' } },
      audience: { type: 'adhoc', recipients: [{ to: '+15005550006' }, { to: '+15005550010' }] },
    })
    assert.equal(draft.status, 201, JSON.stringify(draft.body))
    const other = await window()
    const at = `campaigns/${draft.body.id}`
    for (const one of [{ page, show }, other]) {
      await one.show(at)
      await one.page.getByRole('checkbox', { name: 'Everybody here has agreed to be contacted' }).check()
      await button(one.page, 'Launch').click()
      await one.page.getByText('2 of 2 recipients would receive it now.').waitFor()
    }
    await losingAnswers(page, `**/v1/campaigns/${draft.body.id}/launch`, 1)
    await Promise.all(
      [page, other.page].map(
        async (tab) => await button(tab.getByRole('dialog', { name: 'Launch campaign' }), 'Launch now').dblclick(),
      ),
    )
    for (const tab of [page, other.page]) {
      await tab.bringToFront()
      await tab.reload()
      await tab.getByRole('progressbar', { name: 'Progress' }).waitFor()
    }
    for (let n = 0; n < 5; n++) {
      await world.clock.advance(1_000)
      await world.settle()
    }
    assert.equal((await account.api.get('/v1/messages')).body.data.length, 2)
    assertQuiet()
  },
)

test('a service killed during a send sends once after its restart', { skip: withoutChromium }, async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-console-'))
  closing(t, () => rmSync(dataDir, { recursive: true, force: true }))
  const service = await serviceProcess(dataDir, { POSTHORN_LOG_LEVEL: 'silent' })
  closing(t, () => service.stop())
  await service.start()
  const key = await makeKey(service)
  const accounts = JSON.parse((await service.command('accounts', 'list', '--json')).stdout) as {
    id: string
    name: string
  }[]
  const account = accounts.find(({ name }) => name === 'Crash')!.id
  const who = ['--email', 'owner@example.com', '--name', 'Olivia Owner', '--account', account, '--role', 'owner']
  const { link } = JSON.parse((await service.command('users', 'create', ...who, '--json')).stdout) as { link: string }
  const { page, goto } = await openConsole(t, service.base_url)
  await page.goto(link)
  await field(page, 'New password').fill(ownerPassword)
  await button(page, 'Save').click()
  await heading(page, 'Sign in').waitFor()
  await goto(`/console/${account}/test/messages`)
  await signInOn(page)
  await heading(page, 'Messages').waitFor()

  await write(page, 'Your code is 1234.')
  await page.route('**/v1/messages', async (route) => {
    if (route.request().method() !== 'POST') return await route.continue()
    const answer = route.fetch().catch(() => undefined)
    await service.kill('service')
    await answer
    await route.abort()
  })
  await button(dialogOf(page), 'Send').click()
  await dialogOf(page).getByRole('alert').waitFor()
  assert.equal(await field(dialogOf(page), 'Message').inputValue(), 'Your code is 1234.')
  await service.start()
  await page.unrouteAll()
  await page.reload()
  await button(page, 'Send message').click()
  await button(dialogOf(page), 'Send').click()
  await heading(page, 'Message').waitFor()
  assert.equal((await service.api(key).get('/v1/messages')).body.data.length, 1)
})
