/** `npm run screenshots`: makes the pictures of the console's guide, in both schemes, from an account with two weeks behind it. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import type { Page } from 'playwright-core'
import { signedInOwner } from './support/console-api.ts'
import { withoutChromium } from './support/chromium.ts'
import { heading, schemes, startConsoleWorld, windowOf, type OwnersConsole } from './support/console.ts'
import { seedAccount } from './support/seeded-account.ts'

const folder = join(import.meta.dirname, '../docs/guides/pictures')
const quality = 0.75

interface Shot {
  readonly name: string
  readonly path: string
  readonly mode?: 'live' | 'test'
  /** Waits until it shows what it is about, and does what a person would do before. */
  readonly shown: (page: Page) => Promise<unknown>
  readonly width?: number
}

test('the pictures of the guide', { skip: withoutChromium, timeout: 240_000 }, async (t) => {
  // what fails is not tried again, so that it stands there as failed
  const world = await startConsoleWorld(t, { settings: { webhook_retry_delays: [] } })
  const account = await world.account({ name: 'Harbour Coffee' })
  const seeded = await seedAccount(world, account)
  const owner = await signedInOwner(world)
  await mkdir(folder, { recursive: true })
  for (const scheme of schemes) {
    const opened = await windowOf(t, world, account, owner, { scheme })
    await opened.page.clock.setFixedTime(world.clock.now())
    for (const shot of shotsOf(seeded)) await take(opened, shot, `${shot.name}-${scheme}.webp`)
    opened.assertQuiet()
    await opened.page.context().close()
  }
})

function shotsOf(ids: Awaited<ReturnType<typeof seedAccount>>): Shot[] {
  const text = (words: string) => (page: Page) =>
    page.locator('main').getByText(words).filter({ visible: true }).first().waitFor()
  return [
    { name: 'home', path: '', shown: (page) => page.getByRole('figure').waitFor() },
    { name: 'messages', path: 'messages', shown: text('Delivered') },
    {
      name: 'message',
      path: `messages/${ids.failed_message}`,
      shown: (page) => page.getByRole('region', { name: 'Cost' }).waitFor(),
    },
    {
      name: 'inbox',
      path: `inbox?conversation=${ids.conversation}`,
      shown: (page) => page.getByRole('log').getByText('oat milk').first().waitFor(),
    },
    {
      name: 'inbox-phone',
      path: `inbox?conversation=${ids.conversation}`,
      width: 390,
      shown: (page) => page.getByRole('log').getByText('oat milk').first().waitFor(),
    },
    { name: 'contact', path: `contacts/${ids.contact}`, shown: (page) => heading(page, 'Ada Okafor').waitFor() },
    {
      name: 'segment',
      path: `segments/${ids.segment}`,
      shown: (page) => page.getByRole('status').getByText(/match/).first().waitFor(),
    },
    { name: 'campaign', path: `campaigns/${ids.campaign}`, shown: text('Completed') },
    { name: 'automation', path: `automations/${ids.automation}`, shown: (page) => page.getByRole('table').waitFor() },
    {
      name: 'webhook',
      path: `webhooks/${ids.endpoint}?status=failed`,
      shown: (page) => page.getByRole('cell', { name: 'Failed', exact: true }).waitFor(),
    },
    {
      name: 'connect',
      path: 'channels/new',
      mode: 'live',
      shown: (page) => page.getByRole('radio', { name: 'SMPP' }).check(),
    },
    { name: 'developers', path: 'developers', shown: (page) => page.getByRole('table').waitFor() },
  ]
}

async function take(
  { page, show }: OwnersConsole,
  { path, mode, shown, width = 1280 }: Shot,
  file: string,
): Promise<void> {
  await page.setViewportSize({ width, height: 800 })
  await show(path, mode)
  await shown(page)
  await page.waitForLoadState('networkidle')
  const png = await page.screenshot()
  await writeFile(join(folder, file), await webp(page, png))
}

/** As the browser's own encoder does it. */
async function webp(page: Page, png: Buffer): Promise<Buffer> {
  const encoded = await page.evaluate<string>(`(async () => {
    const bytes = Uint8Array.from(atob('${png.toString('base64')}'), (char) => char.charCodeAt(0))
    const bitmap = await createImageBitmap(new Blob([bytes]))
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
    canvas.getContext('2d').drawImage(bitmap, 0, 0)
    const blob = await canvas.convertToBlob({ type: 'image/webp', quality: ${quality} })
    return btoa(Array.from(new Uint8Array(await blob.arrayBuffer()), (byte) => String.fromCharCode(byte)).join(''))
  })()`)
  return Buffer.from(encoded, 'base64')
}
