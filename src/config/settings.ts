/** The settings of a process (behaviour: configuration 1). `config.ts` reads them from the environment. */
export interface Settings {
  /** Absolute path. */
  readonly data_dir: string
  /** URL without a trailing slash. */
  readonly base_url: string
  readonly rate_limit_messages: number
  readonly rate_limit_default: number
  /** Duration of a console session. */
  readonly rate_limit_console: number
  /** Attempts per minute and address. */
  readonly rate_limit_sign_in: number
  readonly reauthenticate_after_ms: number
  /** Connections of the read pool, in all processes together. */
  readonly read_connections: number
  /** Client connections in total. */
  readonly connection_limit: number
  /** Client connections per address, except for trusted proxies. */
  readonly address_connection_limit: number
  readonly contact_limit: number
  readonly campaign_recipient_limit: number
  readonly import_bytes_max: number
  readonly webhook_endpoint_limit: number
  readonly webhook_timeout_ms: number
  readonly webhook_disable_after: number
  /** Seconds before each retry. */
  readonly webhook_retry_delays: readonly number[]
  /** `host:port` pairs in lower case that are exempt from the address and https checks. */
  readonly webhook_allowed_hosts: readonly string[]
  /** Addresses and CIDR ranges of proxies whose X-Forwarded-For is trusted. */
  readonly trusted_proxies: readonly string[]
  /** Origins of web pages that may call `/v1`. */
  readonly cors_origins: readonly string[]
  readonly smtp_url: string | undefined
  /** Keywords in upper case that match a whole message (behaviour: consent 3.2). */
  readonly opt_out_keywords: readonly string[]
  readonly opt_in_keywords: readonly string[]
  readonly help_keywords: readonly string[]
  /** Provider API URLs by setting name. */
  readonly provider_urls: Readonly<Record<string, string>>
  /** Stripe account for top-ups; absent: only by command line. */
  readonly stripe: StripeSettings | undefined
  /** Single sign-on; absent: only passwords. */
  readonly oidc: OidcSettings | undefined
  /** Storage of media files; absent: the data folder. */
  readonly media_s3: S3Settings | undefined
  readonly media_retention_days: number
  /** null: for ever. */
  readonly message_retention_ms: number | null
  readonly event_retention_ms: number
  readonly delivery_retention_ms: number
  readonly request_log_retention_ms: number
  /** Absent: no tracing. */
  readonly traces: TraceSettings | undefined
  /** The simulator provider, for live-mode tests and benchmarks; never in production. */
  readonly simulator: boolean
}

/** Where spans go, and which are recorded. */
export interface TraceSettings {
  /** The URL of a collector. */
  readonly address: string
  readonly service_name: string
  readonly sampler: (typeof traceSamplers)[number]
  /** 0 to 1, for ratio samplers. */
  readonly ratio: number
}

/** Sampler names of OpenTelemetry. */
export const traceSamplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

/** A bucket in S3-compatible storage. */
export interface S3Settings {
  /** URL with the bucket as its path, without a trailing slash. */
  readonly url: string
  readonly region: string
  readonly key_id: string
  readonly secret: string
}

/** A Stripe account. */
export interface StripeSettings {
  /** The URL of its API, without a trailing slash. */
  readonly url: string
  readonly secret_key: string
  /** `whsec_…`: the secret of the webhook endpoint for paid checkouts. */
  readonly webhook_secret: string
}

/** A client at an OpenID Connect provider. */
export interface OidcSettings {
  /** As the provider writes it, with or without a trailing slash. */
  readonly issuer: string
  readonly client_id: string
  readonly client_secret: string
  /** The display name. */
  readonly name: string
}
