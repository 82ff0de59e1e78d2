/** Fixed limits (docs/reference/behaviour). Configurable ones are in `config.ts`. */
export const limits = {
  body_bytes: 1024 * 1024,
  /** Meta's limit (https://developers.facebook.com/docs/graph-api/webhooks/getting-started). */
  callback_body_bytes: 3 * 1024 * 1024,
  json_depth: 32,
  error_details_max: 100,
  /** Further failures are only counted. */
  error_details_collected_max: 1_000,
  /** UTF-16 units. */
  error_param_length_max: 200,
  /** UTF-16 units. */
  error_text_length_max: 1_000,
  /** With its headers the response stays below 64 KB. */
  error_bytes_max: 40 * 1024,
  item_error_bytes_max: 8 * 1024,
  page_default: 20,
  page_max: 100,
  batch_messages_max: 100,
  idempotency_key_length_max: 255,
  idempotency_window_ms: 24 * 3600_000,
  /** Characters of the JSON of a message, and of its fallbacks. */
  tagged_message_length_max: 100_000,
  message_tags_max: 1000,
  metadata_bytes_max: 16 * 1024,
  reference_length_max: 255,
  send_at_ahead_ms_max: 35 * 24 * 3600_000,
  expires_in_seconds_min: 10,
  expires_in_seconds_max: 604_800,
  /** How long after its scheduled time a message is still sent when its provider throttles or is unreachable. */
  message_validity_ms: 24 * 3600_000,
  /** Then a process without a heartbeat counts as dead (behaviour: operating 3.2). */
  process_silent_ms: 10_000,
  keys_per_account_max: 50,
  audit_retention_ms: 365 * 24 * 3600_000,
  /** For API keys and channels in memory (behaviour: authentication 5.1). */
  cache_ms: 4_000,
  /** docs/decisions/group-commit.md */
  group_commit_rows_max: 500,
} as const
