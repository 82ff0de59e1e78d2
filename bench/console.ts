/** Bench `console`: page weight, load times and lists at a million messages, in a real browser. */
import { existsSync } from 'node:fs'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { median, single, type BenchOptions, type Figure, type Measurement } from './figures.ts'
import { loadMessages, type Loaded } from './million.ts'
import { startService, type Service } from './service.ts'

const most = {
  sign_in_script_kb: 200,
  screen_script_kb: 260,
  charts_script_kb: 380,
  style_kb: 45,
  sign_in_s: 1.5,
  home_s: 2.5,
  first_rows_ms: 500,
  server_p95_ms: 60,
  filtered_p95_ms: 200,
} as const

const email = 'owner@example.com'
const password = 'a horse with a battery'

export const consoleBudgets: Measurement = {
  name: 'console',
  title: 'The console in a browser',
  async run(options) {
    const executablePath = [
      process.env['CHROMIUM'],
      '/usr/bin/chromium',
      '/usr/bin/google-chrome',
      '/usr/bin/chromium-headless-shell',
    ].find((path) => path !== undefined && existsSync(path))
    if (executablePath === undefined)
      return { figures: [], notes: ['Left out: there is no Chromium. Name it in CHROMIUM.'] }
    await using service = await startService({ env: { POSTHORN_RATE_LIMIT_CONSOLE: '1000000' } })
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    try {
      return await measure(options, browser, service)
    } finally {
      await browser.close()
    }
  },
}

async function measure(
  { quick, say }: BenchOptions,
  browser: Browser,
  service: Service,
): Promise<{ figures: Figure[]; notes: string[] }> {
  const base_url = `http://127.0.0.1:${service.port}`
  const rounds = quick ? 3 : 7
  say('console: signing in')
  const owner = await setUp(browser, service)
  const signIn = await loads(browser, `${base_url}/console/sign-in`, rounds, (page) =>
    page.getByLabel('Password', { exact: true }).waitFor(),
  )
  const home = `${base_url}/console/${service.account_id}/live`
  const homeLoads = await loads(browser, home, rounds, shown('Home'), owner)
  say('console: every screen')
  const screens = await screenLoads(browser, home, owner)
  const heaviest = Math.max(...screens.map(({ script_kb }) => script_kb))
  say('console: loading messages')
  const loaded = await loadMessages(service, quick ? 100_000 : 1_000_000)
  const lists = await listFigures(browser, home, owner, service, loaded, rounds)
  return {
    figures: [
      single('JavaScript of sign-in', 'KB', median(signIn.map(({ script_kb }) => script_kb)), {
        most: most.sign_in_script_kb,
      }),
      single('JavaScript of Home', 'KB', median(homeLoads.map(({ script_kb }) => script_kb)), {
        most: most.charts_script_kb,
      }),
      single('JavaScript of the heaviest other screen', 'KB', heaviest, { most: most.screen_script_kb }),
      single(
        'CSS, most of any screen',
        'KB',
        Math.max(...[...screens, ...signIn, ...homeLoads].map(({ style_kb }) => style_kb)),
        { most: most.style_kb },
      ),
      single('sign-in usable, nothing cached', 's', median(signIn.map(({ seconds }) => seconds)), {
        most: most.sign_in_s,
      }),
      single('Home usable, nothing cached', 's', median(homeLoads.map(({ seconds }) => seconds)), {
        most: most.home_s,
      }),
      ...lists,
    ],
    notes: [
      `${screens.length} screens of the menu, each in a browser that has nothing cached; compressed, as transferred. Browser and service share the machine.`,
    ],
  }
}

interface Load {
  readonly script_kb: number
  readonly style_kb: number
  readonly seconds: number
}

const shown = (title: string) => (page: Page) =>
  page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()

async function setUp(browser: Browser, service: Service): Promise<Cookies> {
  if (service.setup_url === undefined)
    throw new Error('the service printed no link for the first owner: is the console built?')
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(service.setup_url)
  await page.getByLabel('Your name', { exact: true }).fill('Olivia Owner')
  await page.getByLabel('E-mail', { exact: true }).fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Create owner' }).click()
  await shown('Home')(page)
  const cookies = await context.cookies()
  await context.close()
  return cookies
}

type Cookies = Awaited<ReturnType<BrowserContext['cookies']>>

async function load(
  browser: Browser,
  url: string,
  until: (page: Page) => Promise<void>,
  cookies: Cookies,
): Promise<Load> {
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  if (cookies.length > 0) await context.addCookies(cookies)
  const page = await context.newPage()
  const bytes = await transferredBy(context, page)
  const began = performance.now()
  await page.goto(url, { waitUntil: 'commit' })
  await until(page)
  const seconds = (performance.now() - began) / 1000
  await page.waitForLoadState('networkidle')
  await context.close()
  return { script_kb: bytes.Script / 1000, style_kb: bytes.Stylesheet / 1000, seconds }
}

async function transferredBy(context: BrowserContext, page: Page): Promise<{ Script: number; Stylesheet: number }> {
  const bytes = { Script: 0, Stylesheet: 0 }
  const kinds = new Map<string, keyof typeof bytes>()
  const session = await context.newCDPSession(page)
  session.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script' || type === 'Stylesheet') kinds.set(requestId, type)
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const kind = kinds.get(requestId)
    if (kind !== undefined) bytes[kind] += encodedDataLength
  })
  await session.send('Network.enable')
  return bytes
}

async function loads(
  browser: Browser,
  url: string,
  rounds: number,
  until: (page: Page) => Promise<void>,
  cookies: Cookies = [],
): Promise<Load[]> {
  const found: Load[] = []
  for (let round = 0; round < rounds; round++) found.push(await load(browser, url, until, cookies))
  return found
}

async function screenLoads(browser: Browser, home: string, cookies: Cookies): Promise<Load[]> {
  const context = await browser.newContext()
  await context.addCookies(cookies)
  const page = await context.newPage()
  await page.goto(home)
  await shown('Home')(page)
  const links = await page.getByRole('navigation', { name: 'Main' }).getByRole('link').all()
  const screens: { title: string; url: string }[] = []
  for (const link of links)
    screens.push({ title: await link.innerText(), url: new URL((await link.getAttribute('href'))!, home).href })
  await context.close()
  const found: Load[] = []
  for (const { title, url } of screens.filter((screen) => screen.title !== 'Home'))
    found.push(await load(browser, url, shown(title), cookies))
  return found
}

/** In the page, because a locator polls every half second: milliseconds from click to first rows. */
const untilRows = `void (globalThis.rowsShown = new Promise((resolve) => {
  let began
  addEventListener('click', () => (began = performance.now()), { capture: true, once: true })
  new MutationObserver((_, observer) => {
    if (began === undefined || document.querySelector('h1')?.textContent !== 'Messages' || document.querySelectorAll('tbody tr').length === 0) return
    observer.disconnect()
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)))
  }).observe(document.body, { subtree: true, childList: true })
}))`

async function listFigures(
  browser: Browser,
  home: string,
  cookies: Cookies,
  service: Service,
  { rare }: Loaded,
  rounds: number,
): Promise<Figure[]> {
  const filters: Record<string, Record<string, string>> = {
    none: {},
    channel: { channel: rare.channel },
    direction: { direction: 'inbound' },
    status: { status: 'failed' },
    to: { to: rare.to },
    reference: { reference: rare.reference },
    created_before: { created_before: rare.created_before },
  }
  const context = await browser.newContext()
  await context.addCookies(cookies)
  const page = await context.newPage()
  await page.goto(`${home}/messages`)
  const rows = page.getByRole('table', { name: 'Messages' }).getByRole('row')
  await rows.nth(1).waitFor()
  const seen: number[] = []
  for (let round = 0; round < rounds; round++) {
    await page.goto(home)
    await shown('Home')(page)
    await page.evaluate(untilRows)
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Messages', exact: true }).click()
    seen.push(await page.evaluate<number>('rowsShown'))
  }
  await context.close()
  const figures = [single('first rows of a million messages', 'ms', median(seen), { most: most.first_rows_ms })]
  for (const [name, query] of Object.entries(filters)) {
    const ms = await serverTimes(
      service,
      cookies,
      `/console/api/v1/messages?${new URLSearchParams({ limit: '50', ...query }).toString()}`,
      100,
    )
    const wanted = name === 'none' ? most.server_p95_ms : most.filtered_p95_ms
    figures.push(
      single(name === 'none' ? 'messages, server p95' : `… by ${name}, oldest, server p95`, 'ms', ms, { most: wanted }),
    )
  }
  return figures
}

async function serverTimes(service: Service, cookies: Cookies, path: string, requests: number): Promise<number> {
  const headers = {
    cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
    'service-account': service.account_id,
    'service-mode': 'live',
  }
  const times: number[] = []
  for (let done = 0; done < requests; done++) {
    const began = performance.now()
    const answer = await fetch(`http://127.0.0.1:${service.port}${path}`, { headers })
    await answer.arrayBuffer()
    const took = performance.now() - began
    if (answer.ok) times.push(took)
    else throw new Error(`GET ${path} answered ${answer.status}`)
  }
  return times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.95)]!
}
