/** The Chromium of this machine, for tests of what runs in a browser: one for all tests of a file, with a context of its own for each that asks. */
import { existsSync } from 'node:fs'
import { after, type TestContext } from 'node:test'
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions } from 'playwright-core'
import { closing } from './closing.ts'
import { boundMs } from './waiting.ts'

/** The first that is there: the one without a window takes the least of the processor. */
const programs = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].map(
  (name) => `/usr/bin/${name}`,
)
const executablePath = [process.env['CHROMIUM'], ...programs].find((path) => path !== undefined && existsSync(path))
const how =
  'needs Chromium: install it (Debian: `apt install chromium-headless-shell`), or name its program in CHROMIUM'

/** Why a test that needs it is skipped, or false. In CI none is: there the test fails. */
export const withoutChromium: string | false = executablePath === undefined && process.env['CI'] === undefined && how

let browser: Promise<Browser> | undefined

/** The browser of this process. It is closed when the tests of the file have ended; where it died or did not start, the next test gets another. */
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
// hooks of a process run when nothing keeps it alive, which the browser does: the runner calls this after the last file of a group
;(globalThis as { closeTestBrowser?: () => Promise<void> }).closeTestBrowser = closeBrowser

/** A browser with nothing stored, as somebody has who never came before. It is closed at the end of the test. */
export async function browserContext(t: TestContext, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await (await launched()).newContext(options)
  closing(t, () => context.close())
  return context
}
