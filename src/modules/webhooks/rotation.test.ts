/** Endpoint secrets after a key rotation. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { startPlatform } from '../../../test/support/world.ts'
import { openSecrets } from '../../platform/secrets/secrets.ts'
import { insertEndpoint, listSealed } from './endpoint-repository.ts'
import { webhookPeriodicJobs } from './periodic-jobs.ts'

test('a rotation encrypts every secret with the new key, keeps the hash key, and refuses a foreign key', async (t) => {
  const { platform, clock, pool } = await startPlatform(t)
  const [old, next] = [Buffer.alloc(32, 7).toString('base64'), randomBytes(32).toString('base64')]
  await insertEndpoint(pool, {
    account_id: 'acc_1',
    mode: 'test',
    id: 'we_1',
    url: 'https://example.com',
    description: '',
    events: ['*'],
    status: 'active',
    filters: {},
    metadata: {},
    source: null,
    created_by: { type: 'api_key', id: 'key_1' },
    secret: platform.secrets.seal('whsec_1'),
    previous_secret: null,
    previous_secret_until: null,
    verification_token: platform.secrets.seal('token-12'),
    created_at: clock.iso(),
  })

  const secrets = await openSecrets(pool, { current: next, previous: [old] })
  await webhookPeriodicJobs({ ...platform, secrets })
    .find(({ name }) => name === 'reencrypt-webhook-secrets')!
    .run()
  const alone = await openSecrets(pool, { current: next, previous: [] })

  const [row] = await listSealed(pool, '', 10)
  assert.deepEqual([alone.open(row!.secret), alone.open(row!.verification_token!)], ['whsec_1', 'token-12'])
  assert.equal(alone.keyedHash('+4915112345678'), platform.secrets.keyedHash('+4915112345678'))
  await assert.rejects(openSecrets(pool, { current: old, previous: [] }), /does not fit this database/)
})
