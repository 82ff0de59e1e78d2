/** Chromium for tests: one browser per file, one context per test. */
import { existsSync } from 'node:fs'
import { after, type TestContext } from 'node:test'
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions } from 'playwright-core'
import { closing } from './closing.ts'
import { boundMs } from './waiting.ts'

const programs = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].map(
  (name) => `/usr/bin/${name}`,
)
const executablePath = [process.env['CHROMIUM'], ...programs].find((path) => path !== undefined && existsSync(path))
const how =
  'needs Chromium: install it (Debian: `apt install chromium-headless-shell`), or name its program in CHROMIUM'

/** The reason to skip, or false. In CI a missing browser fails instead. */
export const withoutChromium: string | false = executablePath === undefined && process.env['CI'] === undefined && how

let browser: Promise<Browser> | undefined

async function launched(): Promise<Browser> {
  browser = browser === undefined ? launch() : browser.then((one) => (one.isConnected() ? one : launch()), launch)
  return await browser
}

async function launch(): Promise<Browser> {
  if (executablePath === undefined) throw new Error(how)
  return await chromium.launch({ executablePath, args: ['--no-sandbox'], timeout: boundMs })
}

async function closeBrowser(): Promise<void> {
  await browser?.then(
    (one) => one.close(),
    () => undefined,
  )
}

after(closeBrowser, { timeout: boundMs })
// the browser keeps the process alive until the runner calls this
;(globalThis as { closeTestBrowser?: () => Promise<void> }).closeTestBrowser = closeBrowser

export async function browserContext(t: TestContext, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await (await launched()).newContext(options)
  closing(t, () => context.close())
  return context
}
