/** Conformance: a provider's description is complete. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { TObject } from 'typebox'
import { capabilitiesOf, channelTypes } from '../../../src/api/resources/channel.ts'
import { validator } from '../../../src/api/validation.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import type { Start } from './samples.ts'

interface Field {
  readonly title?: string
  readonly description?: string
  readonly format?: string
  readonly default?: unknown
}

const guides = join(import.meta.dirname, '../../../docs/guides')
const sentence = /^[A-Z].*\.$/s
const secretName = /secret|token|password|api_key|private_key|^pin$/

const fieldsOf = (schema: TObject): [string, Field][] => Object.entries(schema.properties)

export async function tryDescription(suite: TestContext, provider: Provider, begin: Start): Promise<void> {
  await suite.test(`describes itself completely`, () => describesItself(provider))

  await suite.test(`describes each field, and marks secrets`, () => describesFields(provider))

  await suite.test(`has only capabilities that its channel types can have`, () => hasPossibleCapabilities(provider))

  await suite.test(`accepts correct credentials, and reports wrong ones by field with a sentence`, async (t) =>
    checksCredentials(provider, await begin(t)),
  )
}

function describesItself(provider: Provider): void {
  assert.match(provider.name, /^[a-z][a-z0-9_]*$/)
  assert.ok(provider.title !== '')
  assert.match(provider.about, sentence)
  assert.ok(provider.types.length > 0 && provider.types.every((type) => channelTypes.includes(type)))
  for (const limit of provider.limits ?? []) assert.match(limit, sentence)
  if (provider.offered === 'always') {
    assert.ok(provider.guide !== undefined, 'a provider that is offered has a guide')
    assert.ok((provider.limits ?? []).length > 0, 'a provider that is offered tells its limits')
  }
  if (provider.guide !== undefined)
    assert.ok(
      existsSync(join(guides, `${provider.guide.replace(/\.md$/, '')}.md`)),
      `docs/guides has no ${provider.guide}`,
    )
  if (provider.url !== undefined) {
    assert.match(provider.url.setting, /^POSTHORN_[A-Z]+(_[A-Z]+)*_URL$/)
    assert.match(provider.url.fallback, /^https:\/\/[^/]+(\/.*[^/])?$/, 'an address without a slash at its end')
    assert.ok(provider.url.about !== '')
  }
}

function describesFields(provider: Provider): void {
  for (const [name, field] of fieldsOf(provider.credentials)) {
    assert.ok((field.title ?? '') !== '', `credentials.${name} has no title`)
    assert.match(field.description ?? '', sentence, `credentials.${name}`)
    if (secretName.test(name)) assert.equal(field.format, 'password', `credentials.${name} is a secret`)
  }
  for (const [name, field] of provider.settings === undefined ? [] : fieldsOf(provider.settings)) {
    assert.ok((field.title ?? '') !== '', `settings.${name} has no title`)
    assert.match(field.description ?? '', sentence, `settings.${name}`)
    assert.ok('default' in field, `settings.${name} has no default`)
  }
}

function hasPossibleCapabilities(provider: Provider): void {
  for (const type of provider.types) {
    for (const settings of [{}, { mms: true }]) {
      const able = provider.capabilities(type, settings)
      const possible =
        type === 'sms' && 'mms' in settings ? [...capabilitiesOf[type], 'attachments'] : capabilitiesOf[type]
      assert.ok(able.length > 0)
      assert.deepEqual(
        able.filter((capability) => !possible.includes(capability)),
        [],
      )
    }
  }
}

function checksCredentials(
  provider: Provider,
  { connection, entered = connection.credentials }: Awaited<ReturnType<Start>>,
): void {
  const looked = (credentials: Readonly<Record<string, unknown>>) =>
    provider.check?.({ type: connection.type, credentials, allowed_hosts: [] }) ?? []

  assert.deepEqual(validator(provider.credentials)(entered, 'credentials'), [])
  assert.deepEqual(looked(entered), [])
  for (const [name, value] of Object.entries(entered)) {
    if (typeof value !== 'string') continue
    for (const wrong of ['', ' ', 'http://127.0.0.1', 'localhost', '10.0.0.1', 'x'.repeat(10_000), '\u0000'])
      for (const { param, message } of looked({ ...entered, [name]: wrong })) {
        assert.match(param, /^(credentials|settings)\./)
        assert.match(message, sentence)
      }
  }
}
