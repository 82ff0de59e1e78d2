/** Conformance: downloads distinguish permanent from temporary failures. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { MediaReference, Provider } from '../../../src/providers/provider.ts'
import { PermanentError } from '../../../src/lib/http-client.ts'
import { deafUrl } from '../hostile-server.ts'
import { within } from '../waiting.ts'
import { assertNoSecrets } from './send-attempts.ts'
import { left, type AdapterSamples, type Start } from './samples.ts'

const bytesMax = 1024 * 1024
const never = new AbortController().signal

export async function tryMedia(
  suite: TestContext,
  provider: Provider,
  begin: Start,
  { tools, media }: AdapterSamples,
): Promise<void> {
  if (provider.adapter(tools).fetchMedia === undefined) return
  assert.ok(media !== undefined, 'a provider with `media` gives the suite files to fetch')
  await suite.test(`downloads files, and distinguishes permanent from temporary failures`, async (t) => {
    const samples = await begin(t)
    const { available, gone, passing } = samples.media!

    assert.ok((await fetched(provider, samples, available)) > 0)
    await t.test('a file above the limit', async () =>
      assertLasting(provider, samples, await refusal(provider, samples, available, 2), true),
    )
    for (const [name, reference] of Object.entries(gone))
      await t.test(name, async () =>
        assertLasting(provider, samples, await refusal(provider, samples, reference), true),
      )
    for (const [name, prepare] of Object.entries(passing))
      await t.test(name, async () => {
        prepare()
        assertLasting(provider, samples, await refusal(provider, samples, available), false)
      })
    const { hostile } = samples
    if (left(hostile)) return
    await t.test('nobody listens', async (each) => {
      const away = { ...samples, ...hostile(await deafUrl()) }
      each.after(() => away.tools.http.close())
      const moved = Object.fromEntries(
        Object.entries(available).map(([field, text]) => [field, text.replace(samples.tools.url, away.tools.url)]),
      )
      assertLasting(provider, away, await refusal(provider, away, moved), false)
    })
  })
}

type Asking = Pick<AdapterSamples, 'tools' | 'connection'>

async function fetched(
  provider: Provider,
  { tools, connection }: Asking,
  reference: MediaReference,
  bytes_max = bytesMax,
): Promise<number> {
  const { chunks } = await provider.adapter(tools).fetchMedia!(reference, connection, bytes_max, never)
  let bytes = 0
  for await (const chunk of chunks) bytes += chunk.length
  return bytes
}

async function refusal(
  provider: Provider,
  asking: Asking,
  reference: MediaReference,
  bytes_max = bytesMax,
): Promise<unknown> {
  return await within(
    'the end of a file',
    fetched(provider, asking, reference, bytes_max).then(
      (bytes) => assert.fail(`${bytes} bytes came`),
      (error: unknown) => error,
    ),
  )
}

function assertLasting(provider: Provider, { connection }: Asking, error: unknown, lasting: boolean): void {
  assert.ok(error instanceof Error && !(error instanceof assert.AssertionError), String(error))
  assert.equal(error instanceof PermanentError, lasting, `${error.constructor.name}: ${error.message}`)
  if (lasting) assert.match(error.message, /[.!?]$/, 'it is shown to people')
  if (lasting) assertNoSecrets(provider, connection, { message: error.message })
}
