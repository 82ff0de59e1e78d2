/** API keys, requests and snippets in the console (behaviour: console 6.1). */
import assert from 'node:assert/strict'
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
  'a key is created, shown once, used, found in the request log by id, and revoked',
  { skip: withoutChromium },
  async (t) => {
    const owners = await openOwnersConsole(t)
    const { world, page, show, assertQuiet } = owners
    await show('developers')
    await heading(page, 'Developers').waitFor()
    await button(page, 'Create key').click()
    const dialog = page.getByRole('dialog', { name: 'Create key' })
    await field(dialog, 'Name').fill('Shop <i>')
    await field(dialog, 'Allowed addresses').fill('not an address')
    await dialog.getByRole('checkbox', { name: 'billing:read' }).uncheck()
    await assertPresentable(page)
    await button(dialog, 'Create').click()
    await dialog.locator('[id$=-error]').first().waitFor()
    await field(dialog, 'Allowed addresses').fill('127.0.0.1')
    await button(dialog, 'Create').dblclick()
    const key = await page.getByRole('dialog', { name: 'API key' }).locator('pre').innerText()
    await button(page, 'I have stored it').click()
    assert.match(key, /^svc_test_/)
    assert.equal((await world.pool`select id from api_keys where name = 'Shop <i>'`).length, 1)

    const refused = await world.api(key).get('/v1/balance')
    assert.equal(refused.status, 403)
    await world.settle()
    await page.getByRole('tab', { name: 'Requests' }).click()
    await page.getByRole('searchbox', { name: 'Request id' }).fill(refused.body.error.request_id)
    await page.getByRole('table', { name: 'Requests' }).getByText('scope_missing').waitFor()
    // beyond twenty a second, refusals of a key are one entry with a count
    for (let n = 0; n < 30; n++) await world.api(key).get('/v1/balance')
    await world.clock.advance(1_000)
    await world.settle()
    const [counted] = await world.pool<{ id: string; count: number }[]>`
      select id, count from request_log where count > 1 limit 1`
    await page.getByRole('searchbox', { name: 'Request id' }).fill(counted!.id)
    await page.getByRole('table', { name: 'Requests' }).getByText(`× ${counted!.count}`).waitFor()
    await page.getByRole('tab', { name: 'Snippets' }).click()
    await page.getByRole('tab', { name: 'Python' }).click()
    await page.getByText('requests.post(').waitFor()
    await page.getByRole('tab', { name: 'API keys' }).click()
    await page.getByRole('button', { name: 'Revoke Shop <i>' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke Shop <i>' }).click()
    await page.getByText('Shop <i> was revoked.').waitFor()
    assert.equal((await world.api(key).get('/v1/me')).status, 401)

    await assertPresentableEverywhere(owners, 'developers', (other) =>
      other.getByRole('table', { name: 'API keys' }).getByText('Shop <i>').waitFor(),
    )
    assertQuiet()
  },
)

test('keys beyond the first page are listed and can be revoked', { skip: withoutChromium }, async (t) => {
  const owners = await openOwnersConsole(t)
  const { world, page, show, assertQuiet } = owners
  await world.pool`
    insert into api_keys (id, account_id, mode, name, last_four, hash, scopes, ip_allowlist, created_at)
    select 'key_' || lpad(n::text, 26, '0'), account_id, 'test', 'Old ' || n, '0000', 'hash ' || n, scopes, '{}', now() from api_keys, generate_series(1, 52) n limit 52`
  await show('developers')
  await page.getByRole('table', { name: 'API keys' }).getByText('Old 52').waitFor()
  await button(page, 'Older').click()
  await button(page, 'Revoke Old 1').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke Old 1' }).click()
  await page.getByText('Old 1 was revoked.').waitFor()
  await button(page, 'Newer').click()
  await page.getByRole('table', { name: 'API keys' }).getByText('Old 52').waitFor()
  assertQuiet()
})
