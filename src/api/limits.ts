/** Bounds that are decided (docs/reference/behaviour), by name. Settings that an operator may change live in `config.ts`. */
export const limits = {
  body_bytes: 1024 * 1024,
  /** A provider's callback; Meta sends up to so much (https://developers.facebook.com/docs/graph-api/webhooks/getting-started). */
  callback_body_bytes: 3 * 1024 * 1024,
  json_depth: 32,
  /** Failures that one answer names. */
  error_details_max: 100,
  /** Failures that are looked for: those that no answer names are counted. */
  error_details_collected_max: 1_000,
  /** UTF-16 units of a path that an error shows. */
  error_param_length_max: 200,
  /** UTF-16 units of a text that an error shows. */
  error_text_length_max: 1_000,
  /** Bytes of an error's JSON; with its headers the answer stays below 64 KB. */
  error_bytes_max: 40 * 1024,
  /** Bytes of the error of one item of a batch. */
  item_error_bytes_max: 8 * 1024,
  page_default: 20,
  page_max: 100,
  batch_messages_max: 100,
  idempotency_key_length_max: 255,
  idempotency_window_ms: 24 * 3600_000,
  /** Characters of the JSON of a message with merge tags, and of that of its fallbacks. */
  tagged_message_length_max: 100_000,
  message_tags_max: 1000,
  metadata_bytes_max: 16 * 1024,
  reference_length_max: 255,
  send_at_ahead_ms_max: 35 * 24 * 3600_000,
  expires_in_seconds_min: 10,
  expires_in_seconds_max: 604_800,
  /** How long after its due time a message is still handed over when its provider throttles or cannot be reached. */
  message_validity_ms: 24 * 3600_000,
  /** A process that has not been heard of for so long is taken for dead (behaviour: operating 3.2). */
  process_silent_ms: 10_000,
  keys_per_account_max: 50,
  audit_retention_ms: 365 * 24 * 3600_000,
  /** How long an authentication or channel look-up may be served from memory (behaviour: authentication 5.1). */
  cache_ms: 4_000,
  /** Requests that one group commit takes (docs/decisions/group-commit.md). */
  group_commit_rows_max: 500,
} as const
