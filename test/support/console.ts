/** The console in a real browser, on the service of a world: what is on the screen is found by role and accessible name. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { TestContext } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { browserContext } from './chromium.ts'
import { ownerPassword, signedInOwner, type ConsoleClient } from './console-api.ts'
import { isFull } from './effort.ts'
import { ownPort } from './own-port.ts'
import { boundMs, until } from './waiting.ts'
import { startWorld, type PlatformOptions, type TestAccount, type World } from './world.ts'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const axeRules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

export const schemes = ['light', 'dark'] as const
/** Widths in pixels: a laptop's and a phone's. */
export const widths = [1280, 390] as const
type Scheme = (typeof schemes)[number]
/** Schemes and widths in which screens are checked: light on a laptop and dark on a phone in `npm test`, every combination in `npm run prove`. */
export const looks = schemes
  .flatMap((scheme) => widths.map((width) => ({ scheme, width })))
  .filter(({ scheme, width }) => isFull || (scheme === 'light') === (width === 1280))

export interface ConsoleOptions {
  readonly scheme?: Scheme
  readonly width?: number
}

export interface ConsolePage {
  readonly page: Page
  /** Goes to an address of the service. */
  goto(path: string): Promise<void>
  /** Fails where the page logged an error, broke its policy, or asked anybody but the service. */
  assertQuiet(): void
}

/** A browser's window of its own, with nothing stored. It is closed at the end of the test. */
export async function openConsole(
  t: TestContext,
  base_url: string,
  options: ConsoleOptions = {},
): Promise<ConsolePage> {
  const context = await browserContext(t, {
    colorScheme: options.scheme ?? 'light',
    viewport: { width: options.width ?? 1280, height: 800 },
    reducedMotion: 'reduce',
    timezoneId: 'Europe/Berlin',
    locale: 'en-GB',
  })
  // of pages that open others too
  context.setDefaultTimeout(boundMs)
  const page = await context.newPage()
  const [complaints, foreign]: [string[], string[]] = [[], []]
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('Failed to load resource'))
      complaints.push(message.text())
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(`${base_url}/`) && !/^(data|blob):/.test(request.url())) foreign.push(request.url())
  })
  return {
    page,
    goto: async (path) => void (await page.goto(base_url + path)),
    assertQuiet: () => assert.deepEqual({ complaints, foreign }, { complaints: [], foreign: [] }),
  }
}

/** What axe finds against WCAG 2.2 AA on what the page shows now: the rule and where, a line each. */
export async function accessibilityBreaches(page: Page): Promise<string[]> {
  // evaluated, not added: the page's policy lets no script in
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource)
  await drawn(page)
  return page.evaluate(async (rules) => {
    const { axe } = globalThis as unknown as { axe: Axe }
    const { violations } = await axe.run({ runOnly: rules })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
    )
  }, axeRules)
}

/** Until the page has been drawn anew. Its observers of sizes are told at the end of a frame: the second frame begins when those of the first have done their part. */
const drawn = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    const { requestAnimationFrame } = globalThis as unknown as { requestAnimationFrame(begun: () => void): void }
    for (let frames = 0; frames < 2; frames++) await new Promise<void>((begun) => requestAnimationFrame(begun))
  })

interface Axe {
  run(options: {
    runOnly: readonly string[]
  }): Promise<{ violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[] }>
}

/** By how many pixels the page is wider than its window. */
export const sidewaysPixels = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const { documentElement } = (
      globalThis as unknown as { document: { documentElement: { scrollWidth: number; clientWidth: number } } }
    ).document
    return documentElement.scrollWidth - documentElement.clientWidth
  })

/** Proves what holds for every screen: nothing for axe to find and no sideways scroll. The page shows the screen, at its width and in its scheme. */
export async function assertPresentable(page: Page): Promise<void> {
  assert.deepEqual(
    { breaches: await accessibilityBreaches(page), sideways: await sidewaysPixels(page) },
    { breaches: [], sideways: 0 },
  )
}

/** The same of a screen in either scheme and width, in a window of its own. `shown` waits until it is there. With CONSOLE_SHOTS a picture of each is put into that folder. */
export async function assertPresentableEverywhere(
  opened: OwnersConsole,
  path: string,
  shown: (page: Page) => Promise<unknown>,
  mode?: 'live' | 'test',
): Promise<void> {
  const shots = process.env['CONSOLE_SHOTS']
  const { page, show, assertQuiet } = await opened.window()
  await show(path, mode)
  await inEitherSchemeAndWidth(page, async (scheme, width) => {
    await shown(page)
    if (shots !== undefined)
      await page.screenshot({ path: `${shots}/${path.replaceAll(/\W+/g, '-')}-${scheme}-${width}.png`, fullPage: true })
    await assertPresentable(page)
  })
  assertQuiet()
  await page.context().close()
}

/** Shows the page in both schemes and at both widths. It is not reloaded, so that what is typed stays. */
export async function inEitherSchemeAndWidth(
  page: Page,
  look: (scheme: Scheme, width: number) => Promise<unknown>,
): Promise<void> {
  for (const { scheme: colorScheme, width } of looks) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 800 })
    await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor()
    await look(colorScheme, width)
  }
}

/** The service under the address that browsers find it at: the console's guard compares origins. Its clock stands still, so that all requests come in one second. */
export async function startConsoleWorld(t: TestContext, options: PlatformOptions = {}): Promise<World> {
  const port = await ownPort()
  return await startWorld(t, {
    ...options,
    port,
    settings: { base_url: `http://127.0.0.1:${port}`, rate_limit_console: 10_000, ...options.settings },
  })
}

export interface OwnersConsole extends ConsolePage {
  readonly world: World
  /** The account of the owner, in test mode, with a key. */
  readonly account: TestAccount
  /** The same person without pages. */
  readonly owner: ConsoleClient
  /** Goes to a screen of the account, `messages` or ``, in test mode unless told otherwise. */
  show(path: string, mode?: 'live' | 'test'): Promise<void>
  /** Another window of the same person. */
  window(options?: ConsoleOptions): Promise<OwnersConsole>
}

/** The console in a window of the first owner, who is signed in. */
export async function openOwnersConsole(
  t: TestContext,
  options: ConsoleOptions & { readonly platform?: PlatformOptions } = {},
): Promise<OwnersConsole> {
  const world = await startConsoleWorld(t, options.platform)
  const account = await world.account()
  return await windowOf(t, world, account, await signedInOwner(world), options)
}

/** A window of somebody who is signed in. */
export async function windowOf(
  t: TestContext,
  world: World,
  account: TestAccount,
  owner: ConsoleClient,
  options: ConsoleOptions,
): Promise<OwnersConsole> {
  const opened = await openConsole(t, world.base_url, options)
  const [name, value] = owner.cookie!.split('=') as [string, string]
  await opened.page.context().addCookies([{ name, value, url: world.base_url, httpOnly: true, sameSite: 'Lax' }])
  return {
    ...opened,
    world,
    account,
    owner,
    show: (path, mode = 'test') => opened.goto(`/console/${account.id}/${mode}${path === '' ? '' : `/${path}`}`),
    window: (other = {}) => windowOf(t, world, account, owner, other),
  }
}

/** By its label, a button by its name, the h1 of the screen. */
export const field = (within: Page | Locator, name: string): Locator => within.getByLabel(name, { exact: true })
export const button = (within: Page | Locator, name: string): Locator =>
  within.getByRole('button', { name, exact: true })
export const heading = (page: Page, name: string): Locator => page.getByRole('heading', { level: 1, name, exact: true })

/** Signs the first owner in on the screen that asks for it. */
export async function signInOn(page: Page): Promise<void> {
  await field(page, 'E-mail').fill('owner@example.com')
  await field(page, 'Password').fill(ownerPassword)
  await button(page, 'Sign in').click()
}

/** The window says so, which follows the heading. */
export const titled = (page: Page, title: string): Promise<string> =>
  until(
    `the title ${title}`,
    () => page.title(),
    (seen) => seen === title,
  )
