/** Hostile texts of customers in the console (behaviour: console 1.2, 6.1). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { automationOf } from '../support/automations.ts'
import { withoutChromium } from '../support/chromium.ts'
import { openOwnersConsole, sidewaysPixels, widths, type OwnersConsole } from '../support/console.ts'
import { until } from '../support/waiting.ts'

/** Markup, a script URL, an open right-to-left override, and one long word. */
const hostile = (length: number): string => {
  const begins = '"><img src=x onerror=hacked=1><script>hacked=1</script> javascript:hacked=1 \u202Eאבג مرحبا '
  return [...begins.padEnd(length, 'W')].slice(0, length).join('')
}
const script = 'javascript:hacked=1'
const text = (body: string) => ({ type: 'text', text: { body } })

async function written({
  world,
  account,
  owner,
}: OwnersConsole): Promise<{ readonly test: string[]; readonly live: string[] }> {
  const made = async (path: string, body: object) => {
    const answer = await owner.send('POST', path, body)
    assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body).slice(0, 500)}`)
    return answer.body
  }
  assert.equal((await owner.send('PATCH', '/me', { name: hostile(120) })).status, 200)
  assert.equal((await owner.send('PATCH', '/account', { name: hostile(120) })).status, 200)
  const contact = await made('/v1/contacts', {
    phone: '+4915112345678',
    first_name: hostile(255),
    last_name: hostile(255),
    external_id: script,
    tags: [hostile(64)],
    attributes: { note: hostile(4096), link: script },
  })
  const list = await made('/v1/contact_lists', { name: hostile(120), description: hostile(500) })
  const rules = { match: 'all', conditions: [{ field: 'first_name', operator: 'contains', value: hostile(255) }] }
  const segment = await made('/v1/segments', { name: hostile(120), description: hostile(500), rules })
  const message = await made('/v1/messages', {
    channel: 'ch_test_sms',
    to: '+4915112345678',
    reference: hostile(255),
    ...text(hostile(1000)),
  })
  const link = {
    body: { text: hostile(1024) },
    action: { parameters: { display_text: '<b>Go</b>', url: `https://example.com/?${'W'.repeat(400)}` } },
  }
  const rich = await made('/v1/messages', {
    channel: 'ch_test_whatsapp',
    to: '+4915112345678',
    type: 'cta_url',
    cta_url: link,
  })
  await made('/v1/test/inbound_messages', { channel: 'ch_test_sms', from: '+4915112345678', ...text(hostile(4096)) })
  const campaign = await made('/v1/campaigns', {
    name: hostile(120),
    channel: 'ch_test_sms',
    audience: { type: 'segment', segment_id: segment.id },
    message: text(hostile(1000)),
  })
  const source = await made('/v1/integration_sources', {
    platform: 'custom',
    external_id: hostile(255),
    name: hostile(120),
  })
  const { id: automation } = await automationOf(account, source.id, { name: hostile(120) })
  const endpoint = await made('/v1/webhook_endpoints', {
    url: `https://example.com/${'W'.repeat(1500)}`,
    description: hostile(255),
    events: ['*'],
  })
  await made('/api_keys', { name: hostile(120), mode: 'test' })
  await owner.send('POST', '/invitations', { email: `${'w'.repeat(60)}@example.com`, role: 'viewer' })
  await account.api.post(`/v1/messages/${'W'.repeat(600)}`, {})
  await world.settle()
  await world.tick('request-log')
  owner.mode = 'live'
  const channel = await made('/v1/channels', {
    type: 'whatsapp',
    provider: 'simulator',
    name: hostile(120),
    identifier: '+15005550199',
    credentials: {},
  })
  const components = JSON.stringify([
    { type: 'HEADER', format: 'TEXT', text: hostile(60) },
    { type: 'BODY', text: hostile(1024) },
    { type: 'BUTTONS', buttons: [{ type: 'URL', text: '<b>Go</b>', url: script }] },
  ])
  await world.pool`
    insert into channel_templates (account_id, mode, channel_id, id, provider_id, name, language, category, status, parameter_format, components, updated_at)
    values (${account.id}, 'live', ${channel.id}, ${world.platform.ids('tpl')}, 'p', ${hostile(500)}, 'en', ${hostile(60)}, 'APPROVED', 'POSITIONAL', ${components}::text::json, now())`
  owner.mode = 'test'
  const [{ id: conversation }] = (await owner.send('GET', '/conversations')).body.data
  const lists = ['', 'messages', 'contacts', 'campaigns', 'integrations', 'developers?tab=requests', 'team', 'audit']
  const single = [
    `messages/${message.id}`,
    `messages/${rich.id}`,
    `inbox?conversation=${conversation}`,
    `contacts/${contact.id}`,
    `lists/${list.id}`,
    `segments/${segment.id}`,
    `campaigns/${campaign.id}`,
    `automations/${automation}`,
    `integrations/${source.id}`,
    `webhooks/${endpoint.id}`,
  ]
  return { test: [...lists, ...single], live: [`channels/${channel.id}`, `templates?channel=${channel.id}`] }
}

test(
  "customers' texts are shown as text on every screen, run nothing and cause no sideways scroll",
  { skip: withoutChromium },
  async (t) => {
    const opened = await openOwnersConsole(t)
    const { page, show, assertQuiet } = opened
    const screens = await written(opened)
    const dialogs: string[] = []
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message())
      void dialog.dismiss()
    })

    const wrong: string[] = []
    let seen = 0
    for (const mode of ['test', 'live'] as const)
      for (const path of screens[mode]) {
        await show(path, mode)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await until(
          `${path} to be there`,
          () => page.locator('[aria-busy=true]').count(),
          (count) => count === 0,
        )
        for (const width of widths) {
          await page.setViewportSize({ width, height: 800 })
          await until(
            `${mode} ${path} to fit into ${width} px`,
            () => sidewaysPixels(page),
            (pixels) => pixels === 0,
          )
        }
        const found = await page.evaluate(`({
        hacked: 'hacked' in globalThis,
        elements: document.querySelectorAll('[onerror], a[href^="javascript:" i], #root script').length,
        shown: document.body.innerText.includes('onerror=hacked'),
      })`)
        const { hacked, elements, shown } = found as { hacked: boolean; elements: number; shown: boolean }
        if (hacked || elements > 0)
          wrong.push(`${mode} ${path}: ${elements} elements, ${hacked ? 'it ran' : 'nothing ran'}`)
        if (shown) seen += 1
      }
    assert.deepEqual({ wrong, dialogs }, { wrong: [], dialogs: [] })
    assert.ok(seen > 12, `what is hostile was seen on ${seen} screens`)
    assertQuiet()
  },
)
