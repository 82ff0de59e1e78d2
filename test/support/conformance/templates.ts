/** Conformance: template lists, by name, and failures in a sentence. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Provider, TemplateRecord } from '../../../src/providers/provider.ts'
import { within } from '../waiting.ts'
import { assertNoSecrets } from './send-attempts.ts'
import { left, type AdapterSamples, type Start } from './samples.ts'

const never = new AbortController().signal

export async function tryTemplates(
  suite: TestContext,
  provider: Provider,
  begin: Start,
  { tools, template, wrongConnection }: AdapterSamples,
): Promise<void> {
  if (provider.adapter(tools).listTemplates === undefined) return
  assert.ok(template !== undefined, 'a provider with templates gives the suite the name of one of several')

  await suite.test('lists all templates, those with one name, and none for an unknown name', async (t) => {
    const samples = await begin(t)
    const list = (name?: string) =>
      within('the templates', provider.adapter(samples.tools).listTemplates!(samples.connection, never, name))

    const all = await list()
    for (const record of all) assertTemplate(record)
    assert.ok(
      new Set(all.map(({ name }) => name)).size > 1 && all.some(({ name }) => name === template),
      JSON.stringify(all),
    )
    assert.equal(new Set(all.map(({ provider_id }) => provider_id)).size, all.length)
    assert.deepEqual(
      await list(template),
      all.filter(({ name }) => name === template),
    )
    assert.deepEqual(await list(`${template}_of_nobody`), [])
  })

  await suite.test('says why templates cannot be read, and ends with its signal', async (t) => {
    const samples = await begin(t)
    const adapter = provider.adapter(samples.tools)
    const why = (connection: typeof samples.connection, signal: AbortSignal) =>
      within(
        'the end of a list',
        adapter.listTemplates!(connection, signal).then(
          () => assert.fail('it was read'),
          (error: Error) => error.message,
        ),
      )

    assert.notEqual(await why(samples.connection, AbortSignal.abort()), '')
    if (left(wrongConnection)) return
    const message = await why(wrongConnection, never)
    assert.match(message, /[.!?]$/)
    assertNoSecrets(provider, wrongConnection, { message })
  })
}

function assertTemplate(record: TemplateRecord): void {
  const seen = JSON.stringify(record)
  for (const text of [
    record.provider_id,
    record.name,
    record.language,
    record.category,
    record.status,
    record.parameter_format,
  ])
    assert.ok(typeof text === 'string' && text !== '', seen)
  assert.ok(
    Array.isArray(record.components) && record.components.every((one) => typeof one === 'object' && one !== null),
    seen,
  )
  assert.ok(record.rejected_reason === null || typeof record.rejected_reason === 'string', seen)
  if (record.updated_at !== null) assert.equal(new Date(record.updated_at).toISOString(), record.updated_at, seen)
}
