/** Reads the configuration from the environment (behaviour: configuration 1). One table defines all settings. */
import { randomUUID } from 'node:crypto'
import { access, constants, copyFile, link, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import {
  addressRange,
  baseUrl,
  bucketUrl,
  databaseUrl,
  duration,
  hostPort,
  issuerUrl,
  keyword,
  listOf,
  oneOf,
  ratio,
  secretKey,
  text,
  url,
  webOrigin,
  whole,
  type Reader,
} from './readers.ts'
import { combinationProblems } from './checks.ts'
import { OperatorError } from '../lib/operator-error.ts'
import { makeFolder } from '../lib/system.ts'
import { providers } from '../providers/registry.ts'
import { nearest } from '../lib/text.ts'
import type { LogFormat, LogLevel } from '../platform/observability/log.ts'
import type { SecretKeys } from '../platform/secrets/secrets.ts'
import { traceSamplers, type Settings } from './settings.ts'

export interface Config extends Settings {
  /** Absent: an embedded PostgreSQL in the data folder. */
  readonly database_url: string | undefined
  readonly redis_url: string | undefined
  readonly host: string
  readonly port: number
  readonly secret_key: string | undefined
  readonly previous_secret_keys: readonly string[]
  readonly log_level: LogLevel
  readonly log_format: LogFormat
}

export interface Setting {
  /** Throws the words that follow the variable's name. */
  readonly read: Reader<unknown>
  /** Undefined: absent by default. */
  readonly fallback: string | undefined
  readonly about: string
  readonly secret?: true
}

const logLevels: readonly LogLevel[] = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
const logFormats: readonly LogFormat[] = ['auto', 'json', 'text']
const dayMs = 24 * 3600_000
const optOut = 'STOP,STOPALL,STOP ALL,UNSUBSCRIBE,CANCEL,END,QUIT,OPTOUT,REVOKE,REMOVE,ARRET'

export const settingsTable = {
  DATABASE_URL: {
    read: databaseUrl,
    fallback: undefined,
    secret: true,
    about: 'PostgreSQL 16 or newer. Absent: an embedded one under the data folder.',
  },
  REDIS_URL: {
    read: url(['redis:', 'rediss:']),
    fallback: undefined,
    secret: true,
    about: 'Shares rate limits between processes. Absent: each process has its own.',
  },
  HOST: { read: text, fallback: '127.0.0.1', about: 'The address to listen on.' },
  PORT: { read: whole(0, 65_535), fallback: '8080', about: 'The port to listen on; 0 takes a free one.' },
  POSTHORN_BASE_URL: {
    read: baseUrl,
    fallback: undefined,
    about: 'The address under which clients reach the service. Default: `http://HOST:PORT`.',
  },
  POSTHORN_DATA_DIR: {
    read: text,
    fallback: './data',
    about: 'The folder of the embedded database, the secret key and inbound files.',
  },
  POSTHORN_SECRET_KEY: {
    read: secretKey,
    fallback: undefined,
    secret: true,
    about:
      '32 bytes in base64 that encrypt secrets at rest. Absent: made once in the data folder (`secret.key`, mode 0600).',
  },
  POSTHORN_PREVIOUS_SECRET_KEYS: {
    read: listOf(secretKey),
    fallback: '',
    secret: true,
    about: 'Earlier secret keys, comma-separated, during a rotation.',
  },
  POSTHORN_LOG_LEVEL: {
    read: oneOf(logLevels),
    fallback: 'info',
    about: `Log level on standard error: ${logLevels.join(', ')}.`,
  },
  POSTHORN_LOG_FORMAT: {
    read: oneOf(logFormats),
    fallback: 'auto',
    about: `Log format: ${logFormats.join(', ')}. With auto, text on a terminal and JSON lines otherwise.`,
  },
  POSTHORN_TRUSTED_PROXIES: {
    read: listOf(addressRange),
    fallback: '',
    about: 'Addresses and CIDR ranges of proxies whose `X-Forwarded-For` is trusted.',
  },
  POSTHORN_CORS_ORIGINS: {
    read: listOf(webOrigin),
    fallback: '',
    about:
      'Origins of web pages that may call `/v1` from a browser, such as `https://app.example.com`; a page that holds an API key shows it to its visitors.',
  },
  POSTHORN_RATE_LIMIT_MESSAGES: {
    read: whole(1, 1_000_000),
    fallback: '100',
    about: 'Requests per second and key on `POST /v1/messages`.',
  },
  POSTHORN_RATE_LIMIT_DEFAULT: {
    read: whole(1, 1_000_000),
    fallback: '20',
    about: 'Requests per second and key on every other operation.',
  },
  POSTHORN_RATE_LIMIT_CONSOLE: {
    read: whole(1, 1_000_000),
    fallback: '50',
    about: 'Requests per second and session in the console.',
  },
  POSTHORN_RATE_LIMIT_SIGN_IN: {
    read: whole(1, 1_000_000),
    fallback: '20',
    about: 'Sign-in attempts per minute and address in the console. Addresses of one IPv6 /64 count as one.',
  },
  POSTHORN_REAUTHENTICATE_AFTER_S: {
    read: whole(1, 1_000_000),
    fallback: '600',
    about: 'Seconds after which the console asks for the password again before sensitive actions.',
  },
  POSTHORN_INVITATIONS_PER_DAY: {
    read: whole(1, 1_000_000),
    fallback: '20',
    about: 'Invitations that one account may send within 24 hours; three of them to one address.',
  },
  POSTHORN_READ_CONNECTIONS: {
    read: whole(1, 100),
    fallback: '4',
    about:
      'Database connections for expensive reads (segments, exports, usage) in all processes together; one account may use two.',
  },
  POSTHORN_CONNECTION_LIMIT: {
    read: whole(1, 1_000_000),
    fallback: '10000',
    about: 'Client connections in total; fewer if the open-file limit is lower.',
  },
  POSTHORN_ADDRESS_CONNECTION_LIMIT: {
    read: whole(1, 1_000_000),
    fallback: '2000',
    about: 'Client connections per address; trusted proxies only count towards the total.',
  },
  POSTHORN_CONTACT_LIMIT: {
    read: whole(1, 1_000_000_000),
    fallback: '1000000',
    about: 'Contacts per account and mode.',
  },
  POSTHORN_CAMPAIGN_RECIPIENT_LIMIT: {
    read: whole(1, 10_000_000),
    fallback: '100000',
    about: 'Recipients per campaign.',
  },
  POSTHORN_IMPORT_MAX_BYTES: {
    read: whole(1024, 8 * 1024 ** 3),
    fallback: '536870912',
    about: 'Largest contact import, in bytes.',
  },
  POSTHORN_IMPORT_STORED_BYTES: {
    read: whole(1024, 1024 ** 4),
    fallback: '2147483648',
    about: "Bytes of an account's import files that are not applied yet.",
  },
  POSTHORN_IMPORT_DRAFT_LIMIT: {
    read: whole(1, 10_000),
    fallback: '20',
    about: 'Imports that an account may have uploaded in the console and not started yet.',
  },
  POSTHORN_IMPORT_CHECK_LIMIT: {
    read: whole(1, 100),
    fallback: '2',
    about: 'Imports of an account that a process checks at once.',
  },
  POSTHORN_OPT_OUT_KEYWORDS: {
    read: listOf(keyword),
    fallback: optOut,
    about: 'Whole messages that opt a recipient out.',
  },
  POSTHORN_OPT_IN_KEYWORDS: {
    read: listOf(keyword),
    fallback: 'START,YES,UNSTOP',
    about: 'Whole messages that opt a recipient in.',
  },
  POSTHORN_HELP_KEYWORDS: {
    read: listOf(keyword),
    fallback: 'HELP,INFO',
    about: 'Whole messages that ask for help; they change nothing.',
  },
  POSTHORN_WEBHOOK_ENDPOINT_LIMIT: {
    read: whole(1, 100_000),
    fallback: '500',
    about: 'Webhook endpoints per account and mode.',
  },
  POSTHORN_WEBHOOK_TIMEOUT_MS: {
    read: whole(100, 60_000),
    fallback: '10000',
    about: 'How long a webhook delivery may take.',
  },
  POSTHORN_WEBHOOK_DISABLE_AFTER: {
    read: whole(1, 1_000_000),
    fallback: '50',
    about: 'Failed attempts in a row after which an endpoint is disabled.',
  },
  POSTHORN_WEBHOOK_RETRY_DELAYS: {
    read: listOf(duration),
    fallback: '30,120,600,1800,7200,21600,43200,86400',
    about: 'Seconds before each retry of a webhook delivery.',
  },
  POSTHORN_WEBHOOK_ALLOWED_HOSTS: {
    read: listOf(hostPort),
    fallback: '',
    about: '`host:port`s that webhooks may call although they are not public, with http too: for development.',
  },
  POSTHORN_MEDIA_S3_URL: {
    read: bucketUrl,
    fallback: undefined,
    about:
      'A bucket of S3-compatible storage for inbound files, such as `https://s3.eu-central-1.amazonaws.com/bucket`. Absent: the data folder of one machine.',
  },
  POSTHORN_MEDIA_S3_REGION: { read: text, fallback: 'us-east-1', about: 'Region of the bucket.' },
  POSTHORN_MEDIA_S3_KEY_ID: { read: text, fallback: undefined, about: 'Access key id for the bucket.' },
  POSTHORN_MEDIA_S3_SECRET: {
    read: text,
    fallback: undefined,
    secret: true,
    about: 'Access key secret for the bucket.',
  },
  POSTHORN_MEDIA_RETENTION_DAYS: {
    read: whole(1, 3650),
    fallback: '30',
    about: 'Days after which inbound files are deleted.',
  },
  POSTHORN_MEDIA_STORED_BYTES: {
    read: whole(1024 ** 2, 1024 ** 5),
    fallback: '10737418240',
    about: 'Bytes of the files that are stored for an account, uploaded and inbound.',
  },
  POSTHORN_MESSAGE_RETENTION_DAYS: {
    read: whole(60, 36_500),
    fallback: undefined,
    about: 'Days that messages are kept, up to a month longer: whole months are dropped. Absent: for ever.',
  },
  POSTHORN_EVENT_RETENTION_DAYS: {
    read: whole(7, 3650),
    fallback: '30',
    about: 'Days that events are kept, up to a week longer.',
  },
  POSTHORN_DELIVERY_RETENTION_DAYS: {
    read: whole(7, 3650),
    fallback: '30',
    about: 'Days that webhook deliveries are kept, up to a week longer; at most as long as events.',
  },
  POSTHORN_REQUEST_LOG_RETENTION_DAYS: {
    read: whole(1, 3650),
    fallback: '7',
    about: "Days that the console's log of requests is kept, up to a day longer.",
  },
  POSTHORN_REQUEST_LOG_MAX_BYTES: {
    read: whole(65_536, 1024 ** 4),
    fallback: '52428800',
    about: "The size of an account's log of requests, in bytes, indexes included; beyond it the oldest rows go.",
  },
  POSTHORN_SMTP_URL: {
    read: url(['smtp:', 'smtps:']),
    fallback: undefined,
    secret: true,
    about: 'Sends e-mail to account owners. Absent: e-mails are logged and kept.',
  },
  POSTHORN_STRIPE_SECRET_KEY: {
    read: text,
    fallback: undefined,
    secret: true,
    about:
      'The secret key (`sk_…`) of the Stripe account with which owners top up their wallets in the console. Absent: only `posthorn wallet credit` tops up.',
  },
  POSTHORN_STRIPE_WEBHOOK_SECRET: {
    read: text,
    fallback: undefined,
    secret: true,
    about: 'The signing secret (`whsec_…`) of its webhook endpoint, whose address is `{base}/hooks/payments/stripe`.',
  },
  POSTHORN_STRIPE_URL: {
    read: url(['http:', 'https:']),
    fallback: 'https://api.stripe.com',
    about: "The address of Stripe's API; tests point it at a simulator.",
  },
  POSTHORN_OIDC_ISSUER: {
    read: issuerUrl,
    fallback: undefined,
    about:
      'An OpenID Connect provider for signing in to the console, in addition to passwords. Its callback is `{base}/console/api/oauth/callback`.',
  },
  POSTHORN_OIDC_CLIENT_ID: { read: text, fallback: undefined, about: 'Client id at the OpenID Connect provider.' },
  POSTHORN_OIDC_CLIENT_SECRET: {
    read: text,
    fallback: undefined,
    secret: true,
    about: 'Client secret at the OpenID Connect provider.',
  },
  POSTHORN_OIDC_NAME: {
    read: text,
    fallback: 'single sign-on',
    about: 'Name of the identity provider: the console says "Sign in with" it.',
  },
  POSTHORN_SIMULATOR: {
    read: oneOf(['true', 'false', '1', '0']),
    fallback: 'false',
    about:
      'Offers the provider `simulator` for live mode. For tests and benches; refused when `NODE_ENV` is `production`.',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    read: url(['http:', 'https:']),
    fallback: undefined,
    about:
      'An OpenTelemetry collector that receives spans by OTLP over HTTP, such as `http://127.0.0.1:4318`. Absent: none are recorded.',
  },
  OTEL_SERVICE_NAME: { read: text, fallback: 'posthorn', about: 'The name of the service in its spans.' },
  OTEL_TRACES_SAMPLER: {
    read: oneOf(traceSamplers),
    fallback: 'parentbased_always_on',
    about: `Which traces are recorded: ${traceSamplers.join(', ')}.`,
  },
  OTEL_TRACES_SAMPLER_ARG: {
    read: ratio,
    fallback: '1',
    about: 'The share of traces that the samplers by ratio record, 0 to 1.',
  },
} as const satisfies Record<string, Setting>

const providerSettings: Readonly<Record<string, Setting>> = Object.fromEntries(
  providers.flatMap(({ url: own }) =>
    own === undefined
      ? []
      : [[own.setting, { read: url(['http:', 'https:']), fallback: own.fallback, about: own.about }]],
  ),
)

const allSettings: Readonly<Record<string, Setting>> = { ...settingsTable, ...providerSettings }

/** For docs/reference/settings.md. */
export const settingRows = (): string[] =>
  Object.entries(allSettings).map(
    ([name, { fallback, about }]) =>
      `| \`${name}\` | ${fallback === undefined || fallback === '' ? '' : `\`${fallback}\``} | ${about} |`,
  )

type Name = keyof typeof settingsTable
type Values = { [N in Name]: ReturnType<(typeof settingsTable)[N]['read']> | Absent<N> }
type Absent<N extends Name> = (typeof settingsTable)[N]['fallback'] extends string ? never : undefined

/** Throws an OperatorError with one line per problem. An empty variable counts as absent. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  const misread = new Set<string>()
  for (const [name, setting] of Object.entries(allSettings)) {
    const written = env[name]?.trim()
    const given = written === undefined || written === '' ? setting.fallback : written
    try {
      values[name] = given === undefined ? undefined : setting.read(given)
    } catch (words) {
      if (typeof words !== 'string') throw words
      misread.add(name)
      problems.push(`${name} ${words}${setting.secret === true ? '' : `; it is ${JSON.stringify(given)}`}.`)
    }
  }
  const simulator = values['POSTHORN_SIMULATOR'] === 'true' || values['POSTHORN_SIMULATOR'] === '1'
  if (simulator && env['NODE_ENV'] === 'production')
    problems.push('POSTHORN_SIMULATOR must not be set in production: messages would reach nobody.')
  problems.push(...combinationProblems(values, misread), ...unknownVariables(env))
  if (problems.length > 0)
    throw new OperatorError(
      ['The configuration cannot be used:', ...problems.map((problem) => `  ${problem}`)].join('\n'),
    )
  const provider_urls = Object.fromEntries(Object.keys(providerSettings).map((name) => [name, values[name] as string]))
  return configOf({ ...(values as Values), provider_urls }, simulator)
}

const stripeOf = ({
  POSTHORN_STRIPE_URL: url,
  POSTHORN_STRIPE_SECRET_KEY: secret_key,
  POSTHORN_STRIPE_WEBHOOK_SECRET: webhook_secret,
}: Values) =>
  secret_key === undefined || webhook_secret === undefined
    ? undefined
    : { url: url.replace(/\/$/, ''), secret_key, webhook_secret }

const oidcOf = ({
  POSTHORN_OIDC_ISSUER: issuer,
  POSTHORN_OIDC_CLIENT_ID: client_id,
  POSTHORN_OIDC_CLIENT_SECRET: client_secret,
  POSTHORN_OIDC_NAME: name,
}: Values) =>
  issuer === undefined || client_id === undefined || client_secret === undefined
    ? undefined
    : { issuer, client_id, client_secret, name }

const bucketOf = ({
  POSTHORN_MEDIA_S3_URL: url,
  POSTHORN_MEDIA_S3_REGION: region,
  POSTHORN_MEDIA_S3_KEY_ID: key_id,
  POSTHORN_MEDIA_S3_SECRET: secret,
}: Values) =>
  url === undefined || key_id === undefined || secret === undefined ? undefined : { url, region, key_id, secret }

const tracesOf = ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_SERVICE_NAME: service_name,
  OTEL_TRACES_SAMPLER: sampler,
  OTEL_TRACES_SAMPLER_ARG: ratio,
}: Values) => (endpoint === undefined ? undefined : { address: `${endpoint}/v1/traces`, service_name, sampler, ratio })

function configOf(values: Values & Pick<Config, 'provider_urls'>, simulator: boolean): Config {
  const { HOST: host, PORT: port } = values
  return {
    database_url: values.DATABASE_URL,
    redis_url: values.REDIS_URL,
    data_dir: resolve(values.POSTHORN_DATA_DIR),
    host,
    port,
    base_url: values.POSTHORN_BASE_URL ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    secret_key: values.POSTHORN_SECRET_KEY,
    previous_secret_keys: values.POSTHORN_PREVIOUS_SECRET_KEYS,
    log_level: values.POSTHORN_LOG_LEVEL,
    log_format: values.POSTHORN_LOG_FORMAT,
    trusted_proxies: values.POSTHORN_TRUSTED_PROXIES,
    cors_origins: values.POSTHORN_CORS_ORIGINS,
    rate_limit_messages: values.POSTHORN_RATE_LIMIT_MESSAGES,
    rate_limit_default: values.POSTHORN_RATE_LIMIT_DEFAULT,
    rate_limit_console: values.POSTHORN_RATE_LIMIT_CONSOLE,
    rate_limit_sign_in: values.POSTHORN_RATE_LIMIT_SIGN_IN,
    invitations_per_day: values.POSTHORN_INVITATIONS_PER_DAY,
    reauthenticate_after_ms: values.POSTHORN_REAUTHENTICATE_AFTER_S * 1000,
    read_connections: values.POSTHORN_READ_CONNECTIONS,
    connection_limit: values.POSTHORN_CONNECTION_LIMIT,
    address_connection_limit: values.POSTHORN_ADDRESS_CONNECTION_LIMIT,
    contact_limit: values.POSTHORN_CONTACT_LIMIT,
    campaign_recipient_limit: values.POSTHORN_CAMPAIGN_RECIPIENT_LIMIT,
    import_bytes_max: values.POSTHORN_IMPORT_MAX_BYTES,
    import_stored_bytes_max: values.POSTHORN_IMPORT_STORED_BYTES,
    import_draft_limit: values.POSTHORN_IMPORT_DRAFT_LIMIT,
    import_check_limit: values.POSTHORN_IMPORT_CHECK_LIMIT,
    opt_out_keywords: values.POSTHORN_OPT_OUT_KEYWORDS,
    opt_in_keywords: values.POSTHORN_OPT_IN_KEYWORDS,
    help_keywords: values.POSTHORN_HELP_KEYWORDS,
    webhook_endpoint_limit: values.POSTHORN_WEBHOOK_ENDPOINT_LIMIT,
    webhook_timeout_ms: values.POSTHORN_WEBHOOK_TIMEOUT_MS,
    webhook_disable_after: values.POSTHORN_WEBHOOK_DISABLE_AFTER,
    webhook_retry_delays: values.POSTHORN_WEBHOOK_RETRY_DELAYS,
    webhook_allowed_hosts: values.POSTHORN_WEBHOOK_ALLOWED_HOSTS,
    smtp_url: values.POSTHORN_SMTP_URL,
    stripe: stripeOf(values),
    oidc: oidcOf(values),
    media_s3: bucketOf(values),
    media_stored_bytes_max: values.POSTHORN_MEDIA_STORED_BYTES,
    media_retention_days: Math.min(
      values.POSTHORN_MEDIA_RETENTION_DAYS,
      values.POSTHORN_MESSAGE_RETENTION_DAYS ?? Infinity,
    ),
    message_retention_ms:
      values.POSTHORN_MESSAGE_RETENTION_DAYS === undefined ? null : values.POSTHORN_MESSAGE_RETENTION_DAYS * dayMs,
    event_retention_ms: values.POSTHORN_EVENT_RETENTION_DAYS * dayMs,
    delivery_retention_ms: values.POSTHORN_DELIVERY_RETENTION_DAYS * dayMs,
    request_log_retention_ms: values.POSTHORN_REQUEST_LOG_RETENTION_DAYS * dayMs,
    request_log_bytes_max: values.POSTHORN_REQUEST_LOG_MAX_BYTES,
    traces: tracesOf(values),
    provider_urls: values.provider_urls,
    simulator,
  }
}

/** Not settings (behaviour: command-line 8). */
const commandVariables: readonly string[] = ['POSTHORN_API_KEY']

/** Finds misspelt settings, which would silently keep their default. */
function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const prefix = 'POSTHORN_'
  const names = Object.keys(allSettings).filter((name) => name.startsWith(prefix))
  const known = [...names, ...commandVariables]
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith(prefix) && !name.startsWith('POSTHORN_TEST_') && !known.includes(name),
  )
  return unknown.map((name) => {
    const meant = nearest(
      name.slice(prefix.length),
      names.map((other) => other.slice(prefix.length)),
    )
    return `${name} is no setting.${meant === undefined ? ' docs/reference/settings.md lists them all.' : ` Did you mean ${prefix}${meant}?`}`
  })
}

/** Without a configured key, the one in the data folder, created at first use. */
export async function secretKeys(config: Config): Promise<SecretKeys> {
  return { current: config.secret_key ?? (await keyFile(config.data_dir)), previous: config.previous_secret_keys }
}

/** Throws instead of creating a key. */
export async function existingSecretKeys(config: Config): Promise<SecretKeys> {
  const path = join(config.data_dir, 'secret.key')
  if (config.secret_key === undefined && !(await isThere(path)))
    throw new OperatorError(
      `The secret key is in no backup: set POSTHORN_SECRET_KEY to the one of the installation that was backed up, or copy its secret.key to ${path}, then repeat.`,
    )
  return await secretKeys(config)
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** Atomic: concurrent processes read the same key. */
async function makeKey(path: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}`
  try {
    await writeFile(temporary, `${crypto.getRandomValues(Buffer.alloc(32)).toString('base64')}\n`, {
      mode: 0o600,
      flag: 'wx',
      flush: true,
    })
    // without hard links: a copy that does not replace an existing key
    await link(temporary, path).catch((error: NodeJS.ErrnoException) =>
      error.code === 'EEXIST' ? undefined : copyFile(temporary, path, constants.COPYFILE_EXCL),
    )
  } catch (error) {
    // another process created it
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(temporary, { force: true })
  }
}

async function keyFile(data_dir: string): Promise<string> {
  const path = join(data_dir, 'secret.key')
  const unwritable = (error: Error) =>
    new OperatorError(
      `The secret key cannot be written to ${path}: ${error.message}. Set POSTHORN_SECRET_KEY or POSTHORN_DATA_DIR.`,
    )
  await makeFolder(data_dir).catch((error: Error) => {
    throw unwritable(error)
  })
  if (!(await isThere(path)))
    await makeKey(path).catch((error: Error) => {
      throw unwritable(error)
    })
  const key = (await readFile(path, 'utf8')).trim()
  try {
    return secretKey(key)
  } catch {
    throw new OperatorError(
      `${path} does not hold 32 bytes in base64. Restore it from a backup, or set POSTHORN_SECRET_KEY.`,
    )
  }
}
