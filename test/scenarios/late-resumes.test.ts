/** Marketing preferences from providers in any order (behaviour: consent 4.4). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startWorld } from '../support/world.ts'

const phone = '+4915112345678'

interface Ada {
  change(body: object): Promise<unknown>
  remove(): Promise<unknown>
}

/** Reports preferences of a contact and a stranger at these seconds; resolves to whether the last marketing templates to them are accepted. */
async function afterMarketingWords(
  t: TestContext,
  words: (reported: (status: 'opted_out' | 'opted_in', second: number) => Promise<void>, ada: Ada) => Promise<void>,
) {
  const world = await startWorld(t)
  const { api, id } = await world.account()
  const stranger = '+4915112345679'
  const ada = (await api.post('/v1/contacts', { phone })).body
  const templates = (await api.get('/v1/channels/ch_test_whatsapp/templates')).body.data as {
    name: string
    category: string
  }[]
  const { name } = templates.find(({ category }) => category === 'MARKETING')!
  const reported = async (status: 'opted_out' | 'opted_in', second: number) => {
    const occurred_at = new Date(world.clock.now() - 60_000 + second * 1000).toISOString()
    const word = {
      account_id: id as `acc_${string}`,
      mode: 'test' as const,
      channel_type: 'whatsapp',
      status,
      marketing: true,
      occurred_at,
    }
    await world.pool.begin((tx) =>
      world.services.contacts.receiveProviderConsent(
        tx,
        [phone, stranger].map((address) => ({ ...word, address })),
      ),
    )
  }
  await words(reported, {
    change: (body) => api.patch(`/v1/contacts/${ada.id}`, body),
    remove: () => api.delete(`/v1/contacts/${ada.id}`),
  })
  const template = { channel: 'ch_test_whatsapp', type: 'template', template: { name, language: { code: 'en_US' } } }
  const answers = await Promise.all([phone, stranger].map((to) => api.post('/v1/messages', { ...template, to })))
  await world.invariants()
  return answers.map(({ status, body }) => body.error?.code ?? status)
}

test('a late resume of marketing does not lift a stop that was repeated meanwhile, of contacts and strangers', async (t) => {
  const late = await afterMarketingWords(t, async (reported) => {
    await reported('opted_out', 10)
    await reported('opted_out', 30)
    await reported('opted_in', 20)
  })
  const inTime = await afterMarketingWords(t, async (reported) => {
    await reported('opted_out', 10)
    await reported('opted_out', 30)
    await reported('opted_in', 40)
  })

  assert.deepEqual(late, ['recipient_blocked', 'recipient_blocked'])
  assert.deepEqual(inTime, [202, 202])
})

test('a late resume of marketing does not lift the repeated stop of a deleted contact', async (t) => {
  const answers = await afterMarketingWords(t, async (reported, ada) => {
    await reported('opted_out', 10)
    await reported('opted_out', 30)
    await ada.remove()
    await reported('opted_in', 20)
  })

  assert.deepEqual(answers, ['recipient_blocked', 'recipient_blocked'])
})

test('a late stop of marketing does not change the time of the current one', async (t) => {
  const [contact] = await afterMarketingWords(t, async (reported, ada) => {
    await ada.change({ consent: { whatsapp: { marketing: 'opted_out' } } })
    await reported('opted_out', 10)
    await reported('opted_in', 20)
  })

  assert.equal(contact, 'recipient_blocked')
})
