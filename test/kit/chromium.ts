/** The Chromium of this machine, for tests of what runs in a browser. */
import { existsSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { chromium, type Browser } from 'playwright-core'
import { closing } from './closing.ts'

const executablePath = [process.env['CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => path !== undefined && existsSync(path),
)
const how = 'needs Chromium: install it (Debian: `apt install chromium`), or name its program in CHROMIUM'

/** Why a test that needs it is skipped, or false. In CI none is: there the test fails. */
export const withoutChromium: string | false = executablePath === undefined && process.env['CI'] === undefined && how

/** Closed at the end of the test. */
export async function launchChromium(t: TestContext): Promise<Browser> {
  if (executablePath === undefined) throw new Error(how)
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  closing(t, () => browser.close())
  return browser
}
