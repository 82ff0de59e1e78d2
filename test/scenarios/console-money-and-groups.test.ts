/** Billing, lists and segments in the console (behaviour: console 6.1). */
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
  openOwnersConsole,
} from '../support/console.ts'

test(
  'billing shows balance, usage and every entry; the ledger can be downloaded',
  { skip: withoutChromium },
  async (t) => {
    const { world, account, page, show, assertQuiet } = await openOwnersConsole(t)
    await world.services.billing.grantPackage(world.pool, {
      account_id: account.id,
      name: '<i>Starter</i>',
      credits: 100,
      channel_types: ['sms'],
      expires_at: null,
    })
    await world.services.billing.creditWallet(world.pool, account.id, 25_000_000, '=cmd()')

    await show('billing', 'live')
    await heading(page, 'Billing').waitFor()
    await page.getByRole('region', { name: 'Wallet' }).getByText('$25.00').waitFor()
    const ledger = page.getByRole('table', { name: 'Ledger' })
    await ledger.getByRole('cell', { name: 'Top up', exact: true }).waitFor()
    await page.getByRole('table', { name: 'Packages' }).getByText('<i>Starter</i>').waitFor()
    assert.equal(await button(page, 'Top up').count(), 0, 'there is no payment provider')
    await assertPresentable(page)

    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download CSV' }).click()
    const csv = await readFile(await (await download).path(), 'utf8')
    assert.match(csv, /^id,object,mode,type,/)
    assert.match(csv, /,'=cmd\(\),/)

    await field(page, 'Type').selectOption('adjustment')
    await page.getByText('No results match these filters.').waitFor()
    assert.match(page.url(), /[?&]type=adjustment/)
    await button(page, 'Clear filters').click()
    await ledger.waitFor()
    assertQuiet()
  },
)

test(
  'a list is created once despite repeated clicks, survives a reload as a draft, and is deleted',
  { skip: withoutChromium },
  async (t) => {
    const { account, page, show, assertQuiet } = await openOwnersConsole(t)
    await show('lists')
    await page.getByText('There are no lists yet.').waitFor()
    await button(page, 'New list').click()
    await page.getByRole('dialog', { name: 'New list' }).waitFor()
    await assertPresentable(page)
    await field(page, 'Name').fill('Ünïted <script>')
    await page.reload()
    await button(page, 'New list').click()
    assert.equal(await field(page, 'Name').inputValue(), 'Ünïted <script>')
    await button(page, 'Save').dblclick()

    await page.getByRole('table', { name: 'Lists' }).getByRole('link', { name: 'Ünïted <script>' }).waitFor()
    assert.equal((await account.api.get('/v1/contact_lists')).body.data.length, 1)
    await page.getByRole('button', { name: 'Delete Ünïted <script>' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('There are no lists yet.').waitFor()
    assertQuiet()
  },
)

test('a segment is written rule by rule, with errors at their fields', { skip: withoutChromium }, async (t) => {
  const owners = await openOwnersConsole(t)
  const { account, page, show, assertQuiet } = owners
  await account.api.post('/v1/contacts', { phone: '+4915112345678', tags: ['vip'] })
  await show('segments')
  await button(page, 'New segment').click()
  await heading(page, 'New segment').waitFor()
  await field(page, 'Name').fill('VIPs')
  const rule = (at: number) => page.getByRole('group', { name: `Rule ${at}` })
  await button(page, 'Save').click()
  await rule(1)
    .getByText(/is empty/)
    .waitFor()
  const status = page.getByRole('status')
  await status.getByText('Complete every rule to see the number of contacts.').waitFor()
  await field(rule(1), 'Value').fill('vip')
  await status.getByText('1 contact matches').waitFor()
  await field(rule(1), 'Operator').selectOption('contains_none')
  await status.getByText('0 contacts match').waitFor()
  await field(rule(1), 'Operator').selectOption('contains')
  await button(page, 'Add rule').click()
  await field(rule(2), 'Field').selectOption('attributes.')
  await field(rule(2), 'Attribute').fill('orders')
  await field(rule(2), 'Operator').selectOption('greater_than')
  await field(rule(2), 'Value').fill('10')
  await button(page, 'Save').click()
  await heading(page, 'VIPs').waitFor()

  const [segment] = (await account.api.get('/v1/segments')).body.data
  assert.deepEqual(segment.rules, {
    match: 'all',
    conditions: [
      { field: 'tags', operator: 'contains', value: 'vip' },
      { field: 'attributes.orders', operator: 'greater_than', value: 10 },
    ],
  })
  await page.reload()
  assert.equal(await field(rule(2), 'Value').inputValue(), '10')
  await assertPresentableEverywhere(owners, `segments/${segment.id}`, (other) => heading(other, 'VIPs').waitFor())
  assertQuiet()
})
