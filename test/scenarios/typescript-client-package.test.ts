/** The package of the TypeScript client: size, imports, types, and README programs. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { installClient, run } from '../support/client-package.ts'
import { startWorld } from '../support/world.ts'

const root = join(import.meta.dirname, '../..')
const { folder } = await installClient()
after(() => rm(join(folder, '..'), { recursive: true, force: true }))
const installed = join(folder, 'node_modules/@posthorn/client')
const bytesMax = 15 * 1024

async function errorsOf(name: string, program: string): Promise<string[]> {
  await writeFile(join(folder, name), program)
  const types = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node']
  const options = [
    '--noEmit',
    '--strict',
    '--exactOptionalPropertyTypes',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    ...types,
  ]
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), [...options, join(folder, name)], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 120_000,
  })
  return stdout.split('\n').filter((line) => line.includes('error TS'))
}

test('the package is under 15 KB gzipped, even unminified, and has no dependencies', async () => {
  const files = globSync('dist/**/*.js', { cwd: installed })
  const texts = await Promise.all(files.map((file) => readFile(join(installed, file), 'utf8')))
  const { dependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as {
    dependencies?: object
  }
  const imported = texts.flatMap((text) =>
    [...text.matchAll(/(?:from|import)\s*\(?'([^']+)'/g)].map(([, name]) => name!),
  )
  const { length } = gzipSync(texts.join(''), { level: 9 })

  assert.ok(files.length > 5 && length < bytesMax, `${length} bytes`)
  assert.deepEqual([imported.filter((name) => !name.startsWith('.')), dependencies], [[], undefined])
  assert.doesNotMatch(texts.join(''), /\b(?:process|Buffer|require|__dirname)\b[.(]/)
})

const opening = `import { Posthorn, PosthornError, isUnknownEvent, verifyWebhook, type ErrorCode, type Event, type Message, type MessageStatus, type SendMessage } from '@posthorn/client'
const posthorn = new Posthorn({ apiKey: 'svc_test_x', baseUrl: 'http://127.0.0.1:1' })
const to = { channel: 'ch_test_whatsapp', to: '+15005550006' }
`

test('valid programs compile: events and messages narrow by type, and unknown values have a branch', async () => {
  const errors = await errorsOf(
    'right.mts',
    `${opening}
    const sent: Message = await posthorn.messages.send({ ...to, type: 'text', text: { body: 'x' }, reference: undefined })
    export const event: Event | null = await verifyWebhook('', {}, 'whsec_x')
    if (event?.type === 'message.failed') { const code: string | undefined = event.data.object.error?.code; console.log(code) }
    if (event?.type === 'channel.connected') console.log(event.data.object.name)
    if (event !== null && isUnknownEvent(event)) { const type: string = event.type; console.log(type, event.id) } else if (event?.type === 'message.sent') console.log(event.data.object.to)
    const status: MessageStatus = sent.status; const code: ErrorCode = 'comes-later'; console.log(status, code)
    if (sent.type === 'text') console.log(sent.content.text)
    const failed = new PosthornError({ message: 'x', code: 'insufficient_balance' })
    switch (failed.code) { case 'insufficient_balance': case 'connection_failed': case 'http_502': case 'comes-later': break; default: console.log(failed.code) }
    switch (sent.status) { case 'sent': case 'failed': break; case 'comes-later': break; default: console.log(sent.status) }
    for await (const contact of posthorn.contacts.list({ limit: 5 })) console.log(contact.phone)
    await posthorn.contacts.create({ phone: '+15005550006', consent: { sms: 'opted_in', whatsapp: { marketing: 'opted_out' }, telegram: null } })
    for await (const sent of posthorn.events.follow({ type: 'message.sent' })) console.log(sent.id)
    const page = await posthorn.events.list({ order: 'asc', type: 'message.*' }); console.log(page.data[0]?.type, page.next_cursor)
    await posthorn.test.createInboundMessage({ channel: 'ch_test_sms', from: '+15005550006', text: { body: 'x' } })
    await posthorn.campaigns.duplicate('cmp_x'); await posthorn.webhookEndpoints.retryDelivery('we_x', 'wd_x')
    const vips = { match: 'any' as const, conditions: [{ field: 'tags', operator: 'contains' as const, value: 'vip' }] }
    const segment = await posthorn.segments.create({ name: 'x', rules: { match: 'all', conditions: [vips, { field: 'attributes.orders', operator: 'greater_than', value: 10 }] } })
    console.log(segment.rules.match, (await posthorn.webhookEndpoints.listDeliveries('we_x')).data[0]?.error === 'dns_failed')
    const listed: string = await posthorn.contacts.export({ tag: 'x' }); console.log(listed)`,
  )

  assert.deepEqual(errors, [])
})

const mistakes: Readonly<Record<string, string>> = {
  'a wrong type': `posthorn.messages.send({ ...to, type: 'txet', text: { body: 'x' } })`,
  'a misspelt field': `posthorn.messages.send({ ...to, type: 'text', text: { body: 'x' }, referense: 'x' })`,
  'a misspelt content': `posthorn.messages.send({ ...to, type: 'text', txt: { body: 'x' } })`,
  'a misspelt field of the content': `posthorn.messages.send({ ...to, type: 'text', text: { boddy: 'x' } })`,
  'a simulated message of another type': `posthorn.test.createInboundMessage({ channel: 'ch_test_sms', from: '+15005550006', type: 'location', text: { body: 'x' } })`,
  'the content of another type': `const message: SendMessage = { ...to, type: 'text', location: { latitude: 1, longitude: 2 } }`,
  'a misspelt field of a contact': `posthorn.contacts.create({ fone: '+15005550006' })`,
  'a consent that does not exist': `posthorn.contacts.create({ phone: '+15005550006', consent: { sms: 'opted-in' } })`,
  'a source of consent that does not exist': `posthorn.contacts.upsert({ phone: '+15005550006', consent: { sms: { status: 'opted_in', source: 'checkout' } } })`,
  'a consent for a channel type that does not exist': `posthorn.contacts.update('ct_x', { consent: { smss: 'opted_in' } })`,
  'an operator of a rule that does not exist': `posthorn.segments.create({ name: 'x', rules: { match: 'all', conditions: [{ field: 'tags', operator: 'has', value: 'x' }] } })`,
  'a misspelt field of a rule': `posthorn.segments.create({ name: 'x', rules: { match: 'all', conditions: [{ field: 'tags', operater: 'contains', value: 'x' }] } })`,
  'a misspelt filter': `posthorn.messages.list({ stauts: 'sent' })`,
  'a status that does not exist in a filter': `posthorn.messages.list({ status: 'snet' })`,
  'an event type that does not exist in a filter': `posthorn.events.list({ type: 'message.quued' })`,
  'a prefix of events that does not exist': `posthorn.events.follow({ type: 'mesage.*' })`,
  'an event type that does not exist': `declare const event: Event; if (event.type === 'message.snet') console.log(event)`,
  'the field of another event': `declare const event: Event; if (event.type === 'channel.connected') console.log(event.data.object.to)`,
}

test('invalid programs do not compile', async () => {
  const lines = Object.values(mistakes)
  const errors = await errorsOf('wrong.mts', `${opening}${lines.map((line) => `{ ${line} }`).join('\n')}\nexport {}\n`)
  const refused = new Set(errors.map((error) => Number(/\((\d+),/.exec(error)![1]) - opening.split('\n').length))

  assert.deepEqual(
    Object.keys(mistakes).filter((_, index) => !refused.has(index)),
    [],
  )
})

test('the programs of the README compile and print the shown output', async (t) => {
  const world = await startWorld(t)
  const { key } = await world.account()
  const readme = await readFile(join(root, 'clients/typescript/README.md'), 'utf8')
  const programs = [...readme.matchAll(/```ts\n([\s\S]*?)```(?:\s*```text\n([\s\S]*?)```)?/g)]
  const env = { ...process.env, POSTHORN_API_KEY: key }

  assert.equal(programs.length, 4)
  for (const [index, [, program, printed = '']] of programs.entries()) {
    const name = `readme-${index}.mts`
    assert.deepEqual(await errorsOf(name, program!.replaceAll('http://127.0.0.1:8080', world.base_url)), [])
    assert.equal(
      (await run(process.execPath, ['--no-warnings', join(folder, name)], { env, timeout: 180_000 })).stdout,
      printed,
    )
  }
})
