/** Two people change one object (behaviour: console 6.8). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { withoutChromium } from '../support/chromium.ts'
import {
  assertPresentable,
  button,
  field,
  heading,
  inEitherSchemeAndWidth,
  openOwnersConsole,
} from '../support/console.ts'

const rules = { match: 'all', conditions: [{ field: 'tags', operator: 'contains_any', value: ['vip'] }] }

test(
  'a person who edits an object that somebody else changes is warned, keeps the input, and decides',
  { skip: withoutChromium },
  async (t) => {
    const { page, show, account, assertQuiet } = await openOwnersConsole(t)
    const segment = (await account.api.post('/v1/segments', { name: 'Guests', rules })).body
    const shown = page.getByRole('alert').filter({ hasText: 'Somebody else changed this while you were editing.' })
    const stored = async () => (await account.api.get(`/v1/segments/${segment.id}`)).body.name
    await show(`segments/${segment.id}`)
    await heading(page, 'Guests').waitFor()
    await account.api.patch(`/v1/segments/${segment.id}`, { name: 'Guests of ours' })
    await page.reload()
    await heading(page, 'Guests of ours').waitFor()
    assert.equal(
      await field(page, 'Name').inputValue(),
      'Guests of ours',
      'nothing was entered: the form is what is stored',
    )

    await field(page, 'Name').fill('My guests')
    assert.equal(await shown.count(), 0)
    await account.api.patch(`/v1/segments/${segment.id}`, { name: 'Their guests' })
    await page.reload()
    await shown.waitFor()
    assert.equal(await field(page, 'Name').inputValue(), 'My guests')
    await inEitherSchemeAndWidth(page, () => assertPresentable(page))
    await button(page, 'Show their version').click()
    await shown.waitFor({ state: 'detached' })
    assert.equal(await field(page, 'Name').inputValue(), 'Their guests')

    await field(page, 'Name').fill('Mine after all')
    await account.api.patch(`/v1/segments/${segment.id}`, { name: 'Theirs again' })
    await page.reload()
    await shown.waitFor()
    await button(page, 'Save').click()
    await heading(page, 'Mine after all').waitFor()
    assert.equal(await shown.count(), 0)
    assert.equal(await stored(), 'Mine after all')
    assertQuiet()
  },
)

test(
  'saving an edit over a changed contact saves only the edited fields, and no consent',
  { skip: withoutChromium },
  async (t) => {
    const { page, show, account, assertQuiet } = await openOwnersConsole(t)
    const { id } = (
      await account.api.post('/v1/contacts', {
        phone: '+14155550123',
        tags: ['early'],
        attributes: { plan: 'gold', size: 'M' },
      })
    ).body
    const dialog = page.getByRole('dialog', { name: 'Edit' })
    await show(`contacts/${id}`)
    await button(page, 'Edit').click()
    await field(dialog, 'First name').fill('Ada')
    await dialog.getByText('More fields').click()
    await field(dialog, 'Consent to SMS').selectOption('opted_in')
    await field(dialog, 'Attributes').fill('{"plan": "silver", "size": "M"}')
    await button(dialog, 'Close').click()
    const theirs = {
      tags: ['early', 'vip'],
      attributes: { size: 'L', city: 'Wien' },
      identifiers: { telegram: '123456' },
      consent: { sms: 'opted_out' },
    }
    assert.equal((await account.api.patch(`/v1/contacts/${id}`, theirs)).status, 200)
    await page.reload()
    await button(page, 'Edit').click()
    assert.equal(await field(dialog, 'First name').inputValue(), 'Ada')
    await dialog.getByRole('alert').filter({ hasText: 'Somebody else changed this while you were editing.' }).waitFor()
    await button(dialog, 'Save').click()
    await heading(page, 'Ada').waitFor()

    const { first_name, tags, attributes, identifiers, consent } = (await account.api.get(`/v1/contacts/${id}`)).body
    assert.deepEqual(
      { first_name, tags, attributes, identifiers },
      {
        first_name: 'Ada',
        tags: ['early', 'vip'],
        attributes: { plan: 'silver', size: 'L', city: 'Wien' },
        identifiers: { telegram: '123456' },
      },
    )
    assert.equal(consent.sms.status, 'opted_out')
    assertQuiet()
  },
)

test(
  'a consent chosen before a newer one is flagged before saving, and invalid JSON is reported',
  { skip: withoutChromium },
  async (t) => {
    const { page, show, account, assertQuiet } = await openOwnersConsole(t)
    const { id } = (await account.api.post('/v1/contacts', { phone: '+14155550123' })).body
    const dialog = page.getByRole('dialog', { name: 'Edit' })
    const shown = dialog.getByRole('alert').filter({ hasText: 'Somebody else changed this while you were editing.' })
    await show(`contacts/${id}`)
    await button(page, 'Edit').click()
    await dialog.getByText('More fields').click()
    await field(dialog, 'Consent to SMS').selectOption('opted_in')
    assert.equal(await shown.count(), 0)
    await account.api.patch(`/v1/contacts/${id}`, { consent: { sms: 'opted_out' } })
    await shown.waitFor()
    await button(dialog, 'Show their version').click()
    await shown.waitFor({ state: 'detached' })
    assert.equal(await field(dialog, 'Consent to SMS').inputValue(), '')

    for (const written of ['null', '[]', '7', '{']) {
      await field(dialog, 'Identifiers').fill(written)
      await dialog.getByText(/This is not a JSON object/).waitFor()
      await field(dialog, 'Identifiers').fill('')
      await dialog.getByText(/This is not a JSON object/).waitFor({ state: 'detached' })
    }
    await field(dialog, 'First name').fill('Ada')
    await button(dialog, 'Save').click()
    await heading(page, 'Ada').waitFor()

    assert.equal((await account.api.get(`/v1/contacts/${id}`)).body.consent.sms.status, 'opted_out')
    assertQuiet()
  },
)
