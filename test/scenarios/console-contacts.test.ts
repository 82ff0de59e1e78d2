/** Contacts in the console (behaviour: console 6.4). */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
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
} from '../support/console.ts'

const skip = { skip: withoutChromium }

test('a contact is created, found, tagged, changed, blocked and deleted in the console', skip, async (t) => {
  const { page, show, assertQuiet, account } = await openOwnersConsole(t)

  await show('contacts')
  await heading(page, 'Contacts').waitFor()
  await button(page, 'New contact').click()
  const dialog = page.getByRole('dialog', { name: 'New contact' })
  await field(dialog, 'Phone').fill('12')
  await button(dialog, 'Save').click()
  await dialog.getByText(/`phone`/).waitFor()
  await field(dialog, 'Phone').fill('+1 415 555 0123')
  await field(dialog, 'E-mail').fill('ada@example.com')
  await field(dialog, 'First name').fill('<i>Ada</i>')
  await field(dialog, 'Last name').fill('Lovelace')
  await dialog.getByText('More fields').click()
  await field(dialog, 'Consent to SMS').selectOption('opted_in')
  await field(dialog, 'Attributes').fill('{"plan": "gold"}')
  await button(dialog, 'Save').click()
  await page.getByRole('status').getByText('<i>Ada</i> Lovelace was saved.').waitFor()

  const search = page.getByRole('searchbox', { name: 'Search contacts' })
  await search.fill('nobody')
  await page.getByText('No results match these filters.').waitFor()
  await search.fill('<i>ad')
  await page.getByRole('table', { name: 'Contacts' }).getByRole('link', { name: '<i>Ada</i> Lovelace' }).click()
  await heading(page, '<i>Ada</i> Lovelace').waitFor()
  await page.getByRole('region', { name: 'Attributes' }).getByText('gold').waitFor()
  await page.getByRole('table', { name: 'Consent history' }).getByText('Opted in').waitFor()

  await field(page, 'New tag').fill('vip')
  await button(page, 'Add tag').click()
  await button(page, 'Remove tag vip').waitFor()
  await button(page, 'Edit').click()
  const edit = page.getByRole('dialog', { name: 'Edit' })
  await field(edit, 'First name').fill('Ada')
  await edit.getByText('More fields').click()
  await field(edit, 'Attributes').fill('{"size": "L"}')
  await button(edit, 'Save').click()
  await heading(page, 'Ada Lovelace').waitFor()
  await button(page, 'Block').click()
  await page.getByText('Blocked. This contact receives no messages.').waitFor()
  const [contact] = (await account.api.get('/v1/contacts')).body.data
  assert.deepEqual([contact.attributes, contact.tags, contact.blocked], [{ size: 'L' }, ['vip'], true])

  await button(page, 'Delete').click()
  await button(page.getByRole('dialog', { name: 'Delete' }), 'Delete').click()
  await page.getByRole('status').getByText('Ada Lovelace was deleted.').waitFor()
  await page.getByText(/There are no contacts yet/).waitFor()
  assertQuiet()
})

test('the filtered contacts are exported as a file', skip, async (t) => {
  const { page, show, account } = await openOwnersConsole(t)
  await account.api.post('/v1/contacts', { phone: '+14155550123', first_name: 'Ada', tags: ['vip'] })
  await account.api.post('/v1/contacts', { phone: '+14155550124', first_name: 'Bob' })

  await show('contacts?tag=vip')
  await page.getByRole('link', { name: 'Ada' }).waitFor()
  const downloading = page.waitForEvent('download')
  await button(page, 'Export CSV').click()
  const csv = await readFile((await (await downloading).path())!, 'utf8')

  assert.match(csv, /\+14155550123/)
  assert.doesNotMatch(csv, /\+14155550124/)
})

test('the contact screens are accessible in both colour schemes and widths', skip, async (t) => {
  const opened = await openOwnersConsole(t)
  const { api } = opened.account
  const made = await api.post('/v1/contacts', {
    phone: '+15005550006',
    first_name: 'Ada',
    tags: ['vip'],
    attributes: { plan: 'gold' },
    consent: { sms: 'opted_in' },
  })
  await api.post('/v1/messages', { channel: 'ch_test_sms', to: '+15005550006', type: 'text', text: { body: 'Hello' } })
  await opened.world.clock.advance(1000)
  await api.post('/v1/test/inbound_messages', {
    channel: 'ch_test_whatsapp',
    from: '+15005550006',
    type: 'text',
    text: { body: 'Hi' },
  })

  await assertPresentableEverywhere(opened, 'contacts', (page) => page.getByRole('link', { name: 'Ada' }).waitFor())
  await opened.show('contacts')
  await button(opened.page, 'New contact').click()
  await opened.page.getByRole('dialog', { name: 'New contact' }).getByLabel('Phone', { exact: true }).waitFor()
  await inEitherSchemeAndWidth(opened.page, () => assertPresentable(opened.page))
  await assertPresentableEverywhere(opened, `contacts/${made.body.id}`, async (page) => {
    const timeline = page.getByRole('region', { name: 'Timeline' })
    await timeline.getByText('Received').waitFor()
    assert.deepEqual(await timeline.getByRole('link').allTextContents(), [
      'WhatsApp · Text',
      'SMS · Text',
      'Answer in the inbox',
    ])
    await page.getByRole('table', { name: 'Consent history' }).getByText('Opted in').waitFor()
  })
  opened.assertQuiet()
})
