/** The console in a real browser. */
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
export const widths = [1280, 390] as const
type Scheme = (typeof schemes)[number]
/** Two combinations in `npm test`, all in `npm run prove`. */
export const looks = schemes
  .flatMap((scheme) => widths.map((width) => ({ scheme, width })))
  .filter(({ scheme, width }) => isFull || (scheme === 'light') === (width === 1280))

export interface ConsoleOptions {
  readonly scheme?: Scheme
  readonly width?: number
}

export interface ConsolePage {
  readonly page: Page
  goto(path: string): Promise<void>
  /** Fails if the page logged an error, violated its policy, or called another host. */
  assertQuiet(): void
}

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

export async function accessibilityBreaches(page: Page): Promise<string[]> {
  // the page's policy allows no script element
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

/** Observers run at the end of a frame, so it waits for two. */
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

export const sidewaysPixels = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const { documentElement } = (
      globalThis as unknown as { document: { documentElement: { scrollWidth: number; clientWidth: number } } }
    ).document
    return documentElement.scrollWidth - documentElement.clientWidth
  })

/** No axe findings and no horizontal scroll, at the current width and scheme. */
export async function assertPresentable(page: Page): Promise<void> {
  assert.deepEqual(
    { breaches: await accessibilityBreaches(page), sideways: await sidewaysPixels(page) },
    { breaches: [], sideways: 0 },
  )
}

/** Runs in separate windows. CONSOLE_SHOTS: folder for screenshots. */
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

/** Uses the browser's address, because the guard compares origins. */
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
  readonly account: TestAccount
  readonly owner: ConsoleClient
  /** `messages`, or an empty path for Home. */
  show(path: string, mode?: 'live' | 'test'): Promise<void>
  window(options?: ConsoleOptions): Promise<OwnersConsole>
}

export async function openOwnersConsole(
  t: TestContext,
  options: ConsoleOptions & { readonly platform?: PlatformOptions } = {},
): Promise<OwnersConsole> {
  const world = await startConsoleWorld(t, options.platform)
  const account = await world.account()
  return await windowOf(t, world, account, await signedInOwner(world), options)
}

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

export const field = (within: Page | Locator, name: string): Locator => within.getByLabel(name, { exact: true })
export const button = (within: Page | Locator, name: string): Locator =>
  within.getByRole('button', { name, exact: true })
export const heading = (page: Page, name: string): Locator => page.getByRole('heading', { level: 1, name, exact: true })

export async function signInOn(page: Page): Promise<void> {
  await field(page, 'E-mail').fill('owner@example.com')
  await field(page, 'Password').fill(ownerPassword)
  await button(page, 'Sign in').click()
}

export const titled = (page: Page, title: string): Promise<string> =>
  until(
    `the title ${title}`,
    () => page.title(),
    (seen) => seen === title,
  )
