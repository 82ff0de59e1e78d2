/** Two people change one thing: neither loses what they entered, nor writes over the other unknowingly (behaviour: console 6.8). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { withoutChromium } from '../kit/chromium.ts'
import { assertPresentable, button, field, heading, inEitherSchemeAndWidth, openOwnersConsole } from '../kit/console.ts'

const rules = { match: 'all', conditions: [{ field: 'tags', operator: 'contains_any', value: ['vip'] }] }

test('who has begun to change what somebody else changes meanwhile is told, keeps what they entered, and decides', { skip: withoutChromium }, async (t) => {
  const { page, show, account, assertQuiet } = await openOwnersConsole(t)
  const segment = (await account.api.post('/v1/segments', { name: 'Guests', rules })).body
  const told = page.getByRole('alert').filter({ hasText: 'Somebody has changed this since you began.' })
  const stored = async () => (await account.api.get(`/v1/segments/${segment.id}`)).body.name
  await show(`segments/${segment.id}`)
  await heading(page, 'Guests').waitFor()
  await account.api.patch(`/v1/segments/${segment.id}`, { name: 'Guests of ours' })
  await page.reload()
  await heading(page, 'Guests of ours').waitFor()
  assert.equal(await field(page, 'Name').inputValue(), 'Guests of ours', 'nothing was entered: the form is what is stored')

  await field(page, 'Name').fill('My guests')
  assert.equal(await told.count(), 0)
  await account.api.patch(`/v1/segments/${segment.id}`, { name: 'Their guests' })
  await page.reload()
  await told.waitFor()
  assert.equal(await field(page, 'Name').inputValue(), 'My guests')
  await inEitherSchemeAndWidth(page, () => assertPresentable(page))
  await button(page, 'Show what is stored').click()
  await told.waitFor({ state: 'detached' })
  assert.equal(await field(page, 'Name').inputValue(), 'Their guests')

  await field(page, 'Name').fill('Mine after all')
  await account.api.patch(`/v1/segments/${segment.id}`, { name: 'Theirs again' })
  await page.reload()
  await told.waitFor()
  await button(page, 'Save').click()
  await heading(page, 'Mine after all').waitFor()
  assert.equal(await told.count(), 0)
  assert.equal(await stored(), 'Mine after all')
  assertQuiet()
})
