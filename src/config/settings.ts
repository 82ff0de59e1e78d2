/** The settings of a process (behaviour: configuration 1). `config.ts` reads them from the environment. */
export interface Settings {
  /** Absolute. */
  readonly data_dir: string
  /** Without a trailing slash. */
  readonly base_url: string
  readonly rate_limit_messages: number
  readonly rate_limit_default: number
  readonly rate_limit_console: number
  /** Per minute and address. */
  readonly rate_limit_sign_in: number
  readonly reauthenticate_after_ms: number
  /** Per account. */
  readonly invitations_per_day: number
  /** In all processes together. */
  readonly read_connections: number
  readonly connection_limit: number
  /** Except for trusted proxies. */
  readonly address_connection_limit: number
  readonly contact_limit: number
  readonly campaign_recipient_limit: number
  readonly import_bytes_max: number
  /** Per account, of files that are not applied yet. */
  readonly import_stored_bytes_max: number
  /** Per account. */
  readonly import_draft_limit: number
  /** Per account and process. */
  readonly import_check_limit: number
  readonly webhook_endpoint_limit: number
  readonly webhook_timeout_ms: number
  readonly webhook_disable_after: number
  /** In seconds. */
  readonly webhook_retry_delays: readonly number[]
  /** `host:port` pairs in lower case that are exempt from the address and https checks. */
  readonly webhook_allowed_hosts: readonly string[]
  /** Addresses and CIDR ranges whose X-Forwarded-For is trusted. */
  readonly trusted_proxies: readonly string[]
  readonly cors_origins: readonly string[]
  readonly smtp_url: string | undefined
  /** In upper case; match a whole message (behaviour: consent 3.2). */
  readonly opt_out_keywords: readonly string[]
  readonly opt_in_keywords: readonly string[]
  readonly help_keywords: readonly string[]
  /** By setting name. */
  readonly provider_urls: Readonly<Record<string, string>>
  /** Absent: top-ups only by command line. */
  readonly stripe: StripeSettings | undefined
  /** Absent: only passwords. */
  readonly oidc: OidcSettings | undefined
  /** Absent: media files are in the data folder. */
  readonly media_s3: S3Settings | undefined
  readonly media_retention_days: number
  /** Per account. */
  readonly media_stored_bytes_max: number
  /** Null: for ever. */
  readonly message_retention_ms: number | null
  readonly event_retention_ms: number
  readonly delivery_retention_ms: number
  readonly request_log_retention_ms: number
  /** Per account. */
  readonly request_log_bytes_max: number
  /** Absent: no tracing. */
  readonly traces: TraceSettings | undefined
  /** For live-mode tests and benchmarks; never in production. */
  readonly simulator: boolean
}

export interface TraceSettings {
  readonly address: string
  readonly service_name: string
  readonly sampler: (typeof traceSamplers)[number]
  /** 0 to 1, for ratio samplers. */
  readonly ratio: number
}

/** As OpenTelemetry names them. */
export const traceSamplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

export interface S3Settings {
  /** With the bucket as its path, without a trailing slash. */
  readonly url: string
  readonly region: string
  readonly key_id: string
  readonly secret: string
}

export interface StripeSettings {
  /** Without a trailing slash. */
  readonly url: string
  readonly secret_key: string
  /** `whsec_…`: of the webhook endpoint for paid checkouts. */
  readonly webhook_secret: string
}

export interface OidcSettings {
  readonly issuer: string
  readonly client_id: string
  readonly client_secret: string
  readonly name: string
}
