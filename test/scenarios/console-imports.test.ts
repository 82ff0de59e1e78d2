/** Importing contacts in the console (behaviour: console 6.4). */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import test from 'node:test'
import { until } from '../support/waiting.ts'
import { withoutChromium } from '../support/chromium.ts'
import {
  assertPresentable,
  button,
  field,
  heading,
  inEitherSchemeAndWidth,
  openOwnersConsole,
} from '../support/console.ts'

const csv = 'Mobile;First name;Shoe size\n+14155550123;Ada;38\n12;Bob;44\n'
const file = { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(`\uFEFF${csv}`) }

test(
  'contacts are imported from a file whose columns are chosen on the screen',
  { skip: withoutChromium },
  async (t) => {
    const opened = await openOwnersConsole(t)
    const { page, show, assertQuiet, account, world } = opened

    await show('contacts')
    await button(page, 'Import contacts').click()
    await heading(page, 'Import contacts').waitFor()
    await field(page, 'CSV file').setInputFiles({
      ...file,
      buffer: Buffer.from('phone\n+14155550123,J\xf6rg\n', 'latin1'),
    })
    await page.getByText(/CSV UTF-8/).waitFor()
    await field(page, 'CSV file').setInputFiles(file)
    await field(page, 'Shoe size').waitFor()
    assert.equal(await button(page, 'Start import').getAttribute('aria-disabled'), 'true')
    await button(page, 'Check').click()
    await page.getByText(/Column 3, "Shoe size", is no field/).waitFor()
    await field(page, 'Shoe size').selectOption('attributes.shoe_size')
    await page.reload()
    await until(
      'the choice to be there again',
      async () => await field(page, 'Shoe size').inputValue(),
      (value) => value === 'attributes.shoe_size',
    )
    await button(page, 'Check').click()
    await page
      .getByRole('status')
      .getByText('2 rows checked: 1 created, 0 updated, 1 rejected. Nothing is imported yet.')
      .waitFor()
    assert.deepEqual((await account.api.get('/v1/contacts')).body.data, [])
    await button(page, 'Start import').click()
    await page.getByText(/agreed to be contacted, then start/).waitFor()
    await field(page, 'Everybody here has agreed to be contacted').check()
    await button(page, 'Start import').click()

    await page.getByRole('progressbar', { name: 'Import progress' }).waitFor()
    for (let pass = 0; pass < 3; pass++) {
      await world.clock.advance(1000)
      await world.settle()
    }
    await page.getByRole('status').getByText('2 rows: 1 created, 0 updated, 1 rejected.').waitFor()
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Rejected rows' }).click()
    assert.match(await readFile((await (await downloading).path())!, 'utf8'), /Bob/)
    const [ada] = (await account.api.get('/v1/contacts')).body.data
    assert.deepEqual([ada.first_name, ada.attributes], ['Ada', { shoe_size: 38 }])
    assertQuiet()

    await inEitherSchemeAndWidth(page, () => assertPresentable(page))
    await opened.show('contacts/import')
    await field(page, 'CSV file').setInputFiles(file)
    await field(page, 'Shoe size').waitFor()
    await inEitherSchemeAndWidth(page, () => assertPresentable(page))
    assertQuiet()
  },
)
