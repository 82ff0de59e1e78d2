/** Fixed limits (docs/reference/behaviour). Configurable ones are in `config.ts`. */
export const limits = {
  body_bytes: 1024 * 1024,
  /** Meta's limit (https://developers.facebook.com/docs/graph-api/webhooks/getting-started). */
  callback_body_bytes: 3 * 1024 * 1024,
  json_depth: 32,
  /** Members of objects and elements of arrays in a body, counted before it is parsed (behaviour: conventions 4.6). */
  body_members_max: 20_000,
  /** Of operations with an audience: 10,000 recipients with variables. */
  audience_body_members_max: 200_000,
  /** Of `/hooks` and `/v1/ingest`. */
  callback_body_members_max: 100_000,
  /** Different names of fields in a body: parsing takes about a microsecond for each. */
  body_names_max: 5_000,
  /** Of `/hooks`, `/v1/ingest` and reported events, whose data is not ours. */
  callback_body_names_max: 20_000,
  unknown_fields_max: 100,
  content_bytes_max: 64 * 1024,
  content_members_max: 2_000,
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
  metadata_members_max: 500,
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
  /** A worker's statement reads rows of this size together, or one larger row: bounds its memory and blocking time. */
  claim_bytes_max: 4 * 1024 * 1024,
  /** Messages or events that a process keeps in memory, in characters of JSON. */
  memory_characters_max: 64 * 1024 * 1024,
  /** A job is set aside when it could not be read this many times. */
  unreadable_max: 3,
  /** docs/decisions/group-commit.md */
  group_commit_rows_max: 500,
} as const
