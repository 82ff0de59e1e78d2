/** The inbox in the console (behaviour: console 6.7). */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Page } from 'playwright-core'
import { withoutChromium } from '../support/chromium.ts'
import {
  assertPresentable,
  button,
  field,
  heading,
  inEitherSchemeAndWidth,
  openOwnersConsole,
  titled,
  type OwnersConsole,
} from '../support/console.ts'
import { until } from '../support/waiting.ts'

const skip = { skip: withoutChromium }
const shots = process.env['CONSOLE_SHOTS']
const hourMs = 3600_000

const log = (page: Page) => page.getByRole('log', { name: 'Conversation' })
const list = (page: Page) => page.getByRole('list', { name: 'Conversations' })
const timer = (page: Page) => page.getByRole('timer', { name: 'Service window' })

const writes = async ({ account }: OwnersConsole, channel: string, from: string, body: string) =>
  (await account.api.post('/v1/test/inbound_messages', { channel, from, type: 'text', text: { body } })).body

const sent = async ({ account }: OwnersConsole) => (await account.api.get('/v1/messages?direction=outbound')).body.data

test('an inbound message is read, answered once, assigned and closed', skip, async (t) => {
  const opened = await openOwnersConsole(t)
  const { page, show, world, account, owner, assertQuiet } = opened
  await page.clock.setFixedTime(world.clock.now() + 1000)

  await show('inbox')
  await heading(page, 'Inbox').waitFor()
  await page.getByText('No conversations are waiting.').waitFor()
  await button(page, 'Receive a test message').click()
  const chosen = list(page).getByRole('link', { name: '+15005550006', exact: true })
  await list(page).getByText('Unread').waitFor()
  await titled(page, 'Inbox · TEST · Posthorn')
  await chosen.focus()
  await page.keyboard.press('Enter')
  await log(page).getByText('When does my parcel arrive?').waitFor()
  await list(page).getByText('Unread').waitFor({ state: 'detached' })
  assert.equal(await timer(page).textContent(), '23 h 59 min')
  await page.getByRole('region', { name: 'Contact' }).getByRole('link', { name: '+15005550006' }).waitFor()

  await button(page, 'Send reply').click()
  await page.getByText('Fill this in.').waitFor()
  await field(page, 'Reply').fill('<b>Tomorrow</b>, by noon.')
  await page.reload()
  await log(page).getByText('When does my parcel arrive?').waitFor()
  assert.equal(
    await field(page, 'Reply').inputValue(),
    '<b>Tomorrow</b>, by noon.',
    'what was written survives a reload',
  )
  await button(page, 'Send reply').dblclick()
  await page.getByRole('status').getByText('Sent.').waitFor()
  await log(page).getByText('<b>Tomorrow</b>, by noon.').waitFor()
  assert.equal(await field(page, 'Reply').inputValue(), '')
  const [reply, ...others] = await sent(opened)
  assert.deepEqual([others.length, reply.to, reply.origin.type], [0, '+15005550006', 'console'])
  await world.clock.advance(1000)
  await world.settle()
  await page.reload()
  await log(page).getByText('Delivered').waitFor()
  await field(page, 'Reply').fill('Anything else?')
  await page.keyboard.press('Control+Enter')
  await log(page).getByText('Anything else?').waitFor()

  await button(page, 'Assign to me').click()
  await page.getByText('Assigned to you').waitFor()
  await field(page, 'Show').selectOption({ label: 'Mine' })
  await account.api.patch(`/v1/contacts/${reply.contact_id}`, { first_name: 'Ada', last_name: 'Lovelace' })
  await page.reload()
  await list(page).getByRole('link', { name: 'Ada Lovelace', exact: true }).click()
  await button(page, 'Mark as done').click()
  await button(page, 'Reopen').waitFor()
  await button(page, 'Clear filters').click()
  await page.getByText('No conversations are waiting.').waitFor()
  await field(page, 'Show').selectOption({ label: 'Done' })
  await list(page).getByRole('link', { name: 'Ada Lovelace', exact: true }).waitFor()
  const [conversation] = (await owner.send('GET', '/conversations')).body.data
  assert.deepEqual([conversation.status, conversation.read], ['done', true])
  assertQuiet()
})

test(
  'a refused reply gives advice, a closed window requires a template, and reading without permission to reply changes nothing',
  skip,
  async (t) => {
    const opened = await openOwnersConsole(t)
    const { page, show, world, account, owner, assertQuiet } = opened
    const { contact_id } = await writes(opened, 'ch_test_whatsapp', '+15005550006', 'Stop writing to me')
    await account.api.patch(`/v1/contacts/${contact_id}`, { blocked: true })
    await page.clock.setFixedTime(world.clock.now() + 1000)
    const [{ id }] = (await owner.send('GET', '/conversations')).body.data

    await world.pool`update memberships set role = 'viewer'`
    await show(`inbox?conversation=${id}`)
    await log(page).getByText('Stop writing to me').waitFor()
    assert.equal(await button(page, 'Send reply').getAttribute('aria-disabled'), 'true')
    assert.equal(await button(page, 'Mark as done').getAttribute('aria-disabled'), 'true')
    assert.equal((await owner.send('GET', `/conversations/${id}`)).body.read, false)

    await world.pool`update memberships set role = 'owner'`
    await page.reload()
    await field(page, 'Reply').fill('Sorry')
    await button(page, 'Send reply').click()
    await page.getByText(/^They have opted out of this channel or are blocked\./).waitFor()
    assert.equal(await field(page, 'Reply').getAttribute('aria-invalid'), 'true')
    await page.getByRole('region', { name: 'Contact' }).getByText('Yes, they receive no messages').waitFor()
    await account.api.patch(`/v1/contacts/${contact_id}`, { blocked: false })

    await page.clock.setFixedTime(world.clock.now() + 25 * hourMs)
    await page.getByText(/^Their last message is too old/).waitFor()
    assert.equal(await timer(page).textContent(), 'Closed')
    assert.equal(await field(page, 'Reply').count(), 0)
    await button(page, 'Send template').click()
    const dialog = page.getByRole('dialog', { name: 'Send template' })
    await field(dialog, 'Template').selectOption({ label: 'order_update (en_US)' })
    await field(dialog, 'Body 1').fill('A-1042')
    await field(dialog, 'Body 2').fill('packed')
    await dialog.getByRole('region', { name: 'Preview' }).getByText('Your order A-1042 is now packed.').waitFor()
    await assertPresentable(page)
    await button(dialog, 'Send').click()
    await page.getByRole('status').getByText('Sent.').waitFor()
    const [template] = await sent(opened)
    assert.deepEqual([template.type, template.to], ['template', '+15005550006'])
    assertQuiet()
  },
)

test(
  'the inbox is accessible in both colour schemes and widths, has two steps on a phone, and shows older messages',
  skip,
  async (t) => {
    const opened = await openOwnersConsole(t)
    const { world, account } = opened
    await writes(opened, 'ch_test_whatsapp', '+15005550002', 'Is my order on its way?')
    await account.api.post('/v1/messages', {
      channel: 'ch_test_whatsapp',
      to: '+15005550002',
      type: 'text',
      text: { body: 'It left this morning.' },
    })
    await world.settle()
    await world.clock.advance(1000)
    await world.settle()
    const { contact_id } = await writes(opened, 'ch_test_sms', '+15005550010', 'Thank you! '.repeat(20))
    await account.api.patch(`/v1/contacts/${contact_id}`, { first_name: 'Ada', tags: ['vip'] })
    await world.clock.advance(1000)
    const texts = Array.from({ length: 31 }, (_none, at) => `Step ${at}`)
    await account.api.post('/v1/messages/batch', {
      messages: texts.map((body) => ({ channel: 'ch_test_sms', to: '+15005550010', type: 'text', text: { body } })),
    })
    const { page, show, assertQuiet } = await opened.window()
    const looked = (step: string, shown: (width: number) => Promise<unknown>) =>
      inEitherSchemeAndWidth(page, async (scheme, width) => {
        await shown(width)
        if (shots !== undefined)
          await page.screenshot({ path: `${shots}/inbox-${step}-${scheme}-${width}.png`, fullPage: true })
        await assertPresentable(page)
      })
    await page.clock.setFixedTime(world.clock.now() + 1000)

    await show('inbox')
    const failed = list(page).getByRole('link', { name: '+15005550002' })
    await looked('list', () => list(page).getByRole('link', { name: 'Ada' }).waitFor())
    await failed.click()
    await looked('conversation', async (width) => {
      await log(page)
        .getByText(/^The provider could not deliver it/)
        .waitFor()
      await page.getByRole('region', { name: 'Contact' }).getByText('Never asked').waitFor()
      assert.equal(await list(page).isVisible(), width > 390)
    })

    await page.getByRole('link', { name: 'Back to the conversations' }).click()
    await list(page).waitFor()
    await until('its link to have the focus again', () => failed.evaluate((link) => link.matches(':focus')))
    await list(page).getByRole('link', { name: 'Ada' }).click()
    await log(page).getByText('Step 30').waitFor()
    assert.equal(await log(page).getByText('Thank you!').count(), 0)
    await button(log(page), 'Older messages').click()
    await log(page).getByText('Thank you!').waitFor()
    await button(log(page), 'Older messages').waitFor({ state: 'detached' })
    assertQuiet()
  },
)
