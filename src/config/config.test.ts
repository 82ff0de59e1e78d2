import assert from 'node:assert/strict'
import test from 'node:test'
import { OperatorError } from '../lib/operator-error.ts'
import { readConfig } from './config.ts'

test('an empty environment is a complete configuration', () => {
  const config = readConfig({})

  assert.equal(config.base_url, 'http://127.0.0.1:8080')
  assert.deepEqual(
    [
      config.rate_limit_messages,
      config.rate_limit_default,
      config.webhook_endpoint_limit,
      config.webhook_disable_after,
    ],
    [100, 20, 500, 50],
  )
  assert.deepEqual(config.webhook_retry_delays, [30, 120, 600, 1800, 7200, 21_600, 43_200, 86_400])
  assert.deepEqual(
    [config.database_url, config.redis_url, config.smtp_url, config.simulator],
    [undefined, undefined, undefined, false],
  )
  assert.ok(config.opt_out_keywords.includes('STOP ALL'))
})

test('values are normalized: lists trimmed, keywords in upper case, URLs without a trailing slash', () => {
  const config = readConfig({
    HOST: '::1',
    PORT: '9000',
    POSTHORN_OPT_OUT_KEYWORDS: ' stop , fin,,',
    POSTHORN_WEBHOOK_TIMEOUT_MS: '9000',
    POSTHORN_SIMULATOR: 'TRUE',
    POSTHORN_WEBHOOK_ALLOWED_HOSTS: 'LocalHost:3000,[::1]:80',
    REDIS_URL: '',
  })

  assert.equal(config.base_url, 'http://[::1]:9000')
  assert.deepEqual(config.opt_out_keywords, ['STOP', 'FIN'])
  assert.equal(config.webhook_timeout_ms, 9000)
  assert.equal(config.simulator, true)
  assert.deepEqual(config.webhook_allowed_hosts, ['localhost:3000', '[::1]:80'])
  assert.equal(config.redis_url, undefined)
})

test('every invalid value is named', () => {
  const wrong = {
    DATABASE_URL: 'file:x',
    REDIS_URL: 'http://x',
    PORT: '-1',
    POSTHORN_BASE_URL: 'https://x/?y=1',
    POSTHORN_SECRET_KEY: 'short',
    POSTHORN_LOG_LEVEL: 'loud',
    POSTHORN_TRUSTED_PROXIES: 'proxy',
    POSTHORN_RATE_LIMIT_MESSAGES: '1.5',
    POSTHORN_WEBHOOK_RETRY_DELAYS: '30,soon',
    POSTHORN_WEBHOOK_ALLOWED_HOSTS: 'localhost',
    POSTHORN_SMTP_URL: 'mail',
    POSTHORN_SIMULATOR: 'perhaps',
  }

  assert.throws(
    () => readConfig(wrong),
    (error: unknown) =>
      error instanceof OperatorError && Object.keys(wrong).every((name) => error.message.includes(`\n  ${name} must`)),
  )
})

test('an invalid port, a login in the base URL, a word in two lists and an undecodable password are refused', () => {
  const wrong = {
    POSTHORN_WEBHOOK_ALLOWED_HOSTS: 'localhost:3000,localhost:65536',
    POSTHORN_BASE_URL: 'https://user:hunter2@messages.example.com',
    POSTHORN_OPT_IN_KEYWORDS: 'Start,stop',
    DATABASE_URL: 'postgres://user:50%off@localhost/posthorn',
  }

  assert.throws(
    () => readConfig(wrong),
    (error: unknown) =>
      error instanceof OperatorError && Object.keys(wrong).every((name) => error.message.includes(`\n  ${name} must`)),
  )
})

test('the OIDC issuer is unchanged, and must use https or this machine', () => {
  const client = { POSTHORN_OIDC_CLIENT_ID: 'posthorn', POSTHORN_OIDC_CLIENT_SECRET: 'secret' }
  for (const issuer of ['https://login.example.com/', 'http://127.0.0.1:9000', 'http://localhost:9000'])
    assert.equal(readConfig({ ...client, POSTHORN_OIDC_ISSUER: issuer }).oidc?.issuer, issuer)
  for (const issuer of [
    'http://login.example.com',
    'https://login.example.com/?x=1',
    'https://user@login.example.com',
    'login',
  ])
    assert.throws(
      () => readConfig({ ...client, POSTHORN_OIDC_ISSUER: issuer }),
      /POSTHORN_OIDC_ISSUER must be an https URL/,
    )
  assert.throws(() => readConfig(client), /POSTHORN_OIDC_ISSUER must be set too/)
})

test('an unreadable setting is reported once, and not as missing', () => {
  const together = [
    { POSTHORN_OIDC_ISSUER: 'login', POSTHORN_OIDC_CLIENT_ID: 'posthorn', POSTHORN_OIDC_CLIENT_SECRET: 'secret' },
    { POSTHORN_MEDIA_S3_URL: 'bucket', POSTHORN_MEDIA_S3_KEY_ID: 'id', POSTHORN_MEDIA_S3_SECRET: 'secret' },
  ]

  for (const env of together)
    assert.throws(
      () => readConfig(env),
      (error: Error) =>
        error.message.split('\n').length === 2 && error.message.includes(`\n  ${Object.keys(env)[0]} must be a`),
    )
})

test('an unknown variable is refused with a suggestion', () => {
  const wrong = { POSTHORN_RATE_LIMIT: '5', POSTHORN_SECERT_KEY: 'x', POSTHORN_QUEUE_DEPTH: '1', PORT: 'none' }

  assert.throws(
    () => readConfig(wrong),
    (error: unknown) =>
      error instanceof OperatorError &&
      [
        'POSTHORN_RATE_LIMIT is no setting. Did you mean POSTHORN_RATE_LIMIT_MESSAGES?',
        'POSTHORN_SECERT_KEY is no setting. Did you mean POSTHORN_SECRET_KEY?',
        'POSTHORN_QUEUE_DEPTH is no setting. docs/reference/settings.md lists them all.',
        'PORT must be a whole number',
      ].every((line) => error.message.includes(`\n  ${line}`)),
  )
  assert.doesNotThrow(() => readConfig({ POSTHORN_TEST_DATABASE_URL: 'x', OTHER: 'y' }))
})
