/** The settings of a process as features read them (behaviour: configuration 1). Read from the environment by `config.ts`. */
export interface Settings {
  /** Absolute. */
  readonly data_dir: string
  /** `{base_url}` without a trailing slash. */
  readonly base_url: string
  readonly rate_limit_messages: number
  readonly rate_limit_default: number
  /** Of a session in the console. */
  readonly rate_limit_console: number
  /** A minute and address. */
  readonly rate_limit_sign_in: number
  readonly reauthenticate_after_ms: number
  /** Connections for expensive reads, in all processes together. */
  readonly read_connections: number
  /** Connections that clients may hold, in all. */
  readonly connection_limit: number
  /** As `connection_limit`, from one address that is no trusted proxy. */
  readonly address_connection_limit: number
  readonly contact_limit: number
  readonly campaign_recipient_limit: number
  readonly import_bytes_max: number
  readonly webhook_endpoint_limit: number
  readonly webhook_timeout_ms: number
  readonly webhook_disable_after: number
  /** Seconds to wait after the attempt before, one entry a retry. */
  readonly webhook_retry_delays: readonly number[]
  /** `host:port` pairs, lower case, that may be called although they are not public or not https. */
  readonly webhook_allowed_hosts: readonly string[]
  /** Addresses and CIDR ranges of proxies whose X-Forwarded-For is believed. */
  readonly trusted_proxies: readonly string[]
  /** Origins of web pages that may call `/v1` from a browser, as browsers write them. */
  readonly cors_origins: readonly string[]
  readonly smtp_url: string | undefined
  /** Whole-message keywords, upper case (behaviour: consent 3.2). */
  readonly opt_out_keywords: readonly string[]
  readonly opt_in_keywords: readonly string[]
  readonly help_keywords: readonly string[]
  /** The addresses of providers' APIs by the names of their settings. */
  readonly provider_urls: Readonly<Record<string, string>>
  /** Where wallets are topped up; absent: nowhere but on the command line. */
  readonly stripe: StripeSettings | undefined
  /** With which people sign in beside their passwords; absent: with passwords alone. */
  readonly oidc: OidcSettings | undefined
  /** Where files that come in are kept; absent: in the data folder. */
  readonly media_s3: S3Settings | undefined
  readonly media_retention_days: number
  /** null: for ever. */
  readonly message_retention_ms: number | null
  readonly event_retention_ms: number
  readonly delivery_retention_ms: number
  readonly request_log_retention_ms: number
  /** Absent: nothing is recorded. */
  readonly traces: TraceSettings | undefined
  /** The simulator provider exists for live-mode tests and benches; never in production. */
  readonly simulator: boolean
}

/** Where spans go, and which are recorded. */
export interface TraceSettings {
  /** Where a collector takes spans. */
  readonly address: string
  readonly service_name: string
  readonly sampler: (typeof traceSamplers)[number]
  /** 0 to 1, of the samplers by ratio. */
  readonly ratio: number
}

/** The names that OpenTelemetry has for them. */
export const traceSamplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

/** A bucket of S3-compatible storage. */
export interface S3Settings {
  /** With the bucket as its path, without a slash at its end. */
  readonly url: string
  readonly region: string
  readonly key_id: string
  readonly secret: string
}

/** An account with Stripe. */
export interface StripeSettings {
  /** Of its API, without a slash at its end. */
  readonly url: string
  readonly secret_key: string
  /** `whsec_…`: of the webhook endpoint that tells of paid checkouts. */
  readonly webhook_secret: string
}

/** A client at an OpenID Connect provider. */
export interface OidcSettings {
  /** As the provider writes it, with or without a slash at its end. */
  readonly issuer: string
  readonly client_id: string
  readonly client_secret: string
  /** As people know it. */
  readonly name: string
}
