/**
 * The error catalogue of `/v1` (behaviour: conventions 7). Types, statuses, `doc_url` pages and OpenAPI derive from it.
 */

export interface ErrorEntry {
  readonly status: number
  /** Names the problem. */
  readonly title: string
  /** The next step. */
  readonly fix: string
}

export const errorCatalogue = {
  parameter_missing: {
    status: 400,
    title: 'A required field, query parameter or content object is absent.',
    fix: 'Add the parameter named in `param`; `details` lists every one that is missing.',
  },
  parameter_invalid: {
    status: 400,
    title: 'A parameter has a wrong type, format, length or value.',
    fix: 'Correct the parameter named in `param`; `details` lists every failure with its reason.',
  },
  unsupported_message_type: {
    status: 400,
    title: "The message type is not among the channel's capabilities.",
    fix: 'Read `capabilities` of the channel with GET /v1/channels/{id} and send one of those types.',
  },
  invalid_json: {
    status: 400,
    title: 'The body could not be read as JSON, or its Content-Type is not application/json.',
    fix: 'Send a UTF-8 JSON object with the header Content-Type: application/json.',
  },
  webhook_endpoint_limit_reached: {
    status: 400,
    title: 'The account has reached its limit of webhook endpoints in this mode.',
    fix: 'Delete an endpoint that is no longer used, or ask the operator to raise POSTHORN_WEBHOOK_ENDPOINT_LIMIT.',
  },
  webhook_url_not_public: {
    status: 400,
    title: 'The webhook URL is not a public https address.',
    fix: 'Use an https URL whose host is reachable from the internet; for development, `posthorn listen` forwards events to a local address.',
  },
  integration_source_limit_reached: {
    status: 400,
    title: 'The account already has 50 integration sources in this mode.',
    fix: 'Delete a source that is no longer used.',
  },
  automation_limit_reached: {
    status: 400,
    title: 'The integration source has reached its limit of automations.',
    fix: 'Delete an automation that is no longer used.',
  },
  contact_limit_reached: {
    status: 400,
    title: 'The account has reached its limit of contacts.',
    fix: 'Delete contacts that are no longer needed, or ask the operator to raise POSTHORN_CONTACT_LIMIT; updates still work.',
  },
  campaign_limit_exceeded: {
    status: 400,
    title: 'The audience is over the per-campaign limit or the recipients reachable in 24 hours.',
    fix: 'Split the audience over several campaigns or days.',
  },
  consent_required: {
    status: 400,
    title: "The recipients' consent was not declared.",
    fix: 'Set `consent_declared` to true once you hold the consent of everybody in the list.',
  },
  payload_too_large: {
    status: 413,
    title: 'The body is larger than this endpoint accepts.',
    fix: 'Send less in one request: 256 KB for automation events and native webhooks, 1 MB elsewhere.',
  },
  api_key_missing: {
    status: 401,
    title: 'The request carries no API key.',
    fix: 'Send the header Authorization: Bearer <API_KEY>.',
  },
  api_key_invalid: {
    status: 401,
    title: 'The API key is malformed, truncated or unknown.',
    fix: 'Copy the whole key again; keys start with svc_live_ or svc_test_.',
  },
  api_key_revoked: {
    status: 401,
    title: 'The API key was revoked.',
    fix: 'Use another key, or create one with `posthorn keys create`.',
  },
  api_key_expired: {
    status: 401,
    title: 'The API key has passed its expiry date.',
    fix: 'Create a new key with `posthorn keys create`.',
  },
  webhook_signature_invalid: {
    status: 401,
    title: 'The signature of the native platform webhook is missing or wrong.',
    fix: "Configure the platform with the source's current signing secret.",
  },
  /** for provider callbacks, outside of `/v1` */
  hook_token_invalid: {
    status: 401,
    title: "The signature of a provider's callback is missing or wrong.",
    fix: "Check that the provider signs with the secret in the channel's credentials.",
  },
  insufficient_balance: {
    status: 402,
    title: 'No package credit applies and the wallet is below the price of the message.',
    fix: 'Top up the wallet or grant a package, then send again; nothing was created or charged.',
  },
  scope_missing: {
    status: 403,
    title: 'The API key lacks the scope of this operation.',
    fix: 'Use a key with the scope named in the message; GET /v1/me shows the scopes of a key.',
  },
  ip_not_allowed: {
    status: 403,
    title: "The request comes from an address outside the key's IP allowlist.",
    fix: 'Send from an allowed address, or use a key whose allowlist covers this one.',
  },
  account_suspended: {
    status: 403,
    title: 'The account is suspended.',
    fix: 'Ask the operator of this service to reinstate the account.',
  },
  live_mode_required: {
    status: 403,
    title: 'The operation exists in live mode only.',
    fix: 'Use a key that starts with svc_live_.',
  },
  test_mode_required: {
    status: 403,
    title: 'The operation exists in test mode only.',
    fix: 'Use a key that starts with svc_test_.',
  },
  source_disabled: {
    status: 403,
    title: 'The integration source is disabled.',
    fix: 'Set its status back to active with PATCH /v1/integration_sources/{id}.',
  },
  resource_missing: {
    status: 404,
    title: 'Nothing with this id or path exists in this account and mode.',
    fix: 'Check the id, and that the key is of the mode in which the object was created.',
  },
  idempotency_key_in_use: {
    status: 409,
    title: 'A request with the same Idempotency-Key is still being processed.',
    fix: 'Wait a moment and repeat the request unchanged.',
  },
  idempotency_key_reused: {
    status: 409,
    title: 'The Idempotency-Key was used within 24 hours with a different body.',
    fix: 'Use a new key for a different request.',
  },
  channel_identifier_taken: {
    status: 409,
    title: 'A channel of this type and identifier is already connected.',
    fix: 'Delete the other channel first, or connect another sender.',
  },
  contact_exists: {
    status: 409,
    title: 'Another contact already has this phone number or identifier.',
    fix: 'Update that contact, or use POST /v1/contacts/upsert.',
  },
  campaign_state_invalid: {
    status: 409,
    title: "The action is not possible in the campaign's status.",
    fix: 'Retrieve the campaign and check its `status`.',
  },
  message_state_invalid: {
    status: 409,
    title: "The action is not possible in the message's status.",
    fix: 'Retrieve the message and check its `status`; only queued messages can be cancelled.',
  },
  delivery_state_invalid: {
    status: 409,
    title: "The action is not possible in the delivery's status.",
    fix: 'A pending delivery is retried automatically; wait until it is delivered or failed.',
  },
  channel_not_connected: {
    status: 422,
    title: 'The channel is not connected to its provider, or is suspended.',
    fix: 'Reconnect the channel, then send again.',
  },
  recipient_blocked: {
    status: 422,
    title: 'The recipient is blocked or has opted out.',
    fix: 'Do not retry; the recipient must opt in again first.',
  },
  policy_violation: {
    status: 422,
    title: "The channel's policy forbids the message.",
    fix: 'Outside the 24-hour customer service window send an approved template.',
  },
  upstream_rejected: {
    status: 422,
    title: 'The channel provider refuses the request.',
    fix: 'Correct the request as the message says, then send again.',
  },
  template_not_approved: {
    status: 422,
    title: 'The campaign has no approved template on its channel.',
    fix: 'Use a template whose status is APPROVED; GET /v1/channels/{id}/templates lists them.',
  },
  rate_limit_exceeded: {
    status: 429,
    title: 'The key exceeded its requests per second for this endpoint, or the account runs too many expensive reads.',
    fix: 'Wait for the seconds in Retry-After, then repeat; nothing was processed or charged.',
  },
  internal_error: {
    status: 500,
    title: 'The service failed to process the request.',
    fix: 'Repeat with the same Idempotency-Key; if it persists, report the request id.',
  },
  upstream_unavailable: {
    status: 503,
    title: 'The message could not be accepted now; nothing was charged.',
    fix: 'Repeat with backoff and the same Idempotency-Key.',
  },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof errorCatalogue
export const errorCodes = Object.keys(errorCatalogue) as readonly ErrorCode[]

const typeByStatus: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  413: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  422: 'channel_error',
  429: 'rate_limit_error',
  500: 'api_error',
  503: 'api_error',
}

/** (behaviour: conventions 7.2) */
export const errorType = (status: number): string => typeByStatus[status] ?? 'api_error'

export const errorTypes: readonly string[] = [...new Set(Object.values(typeByStatus))]

/** (behaviour: conventions 6.3) */
export const detailCodes = [
  'missing_field',
  'invalid_type',
  'invalid_format',
  'invalid_value',
  'too_short',
  'too_long',
  'too_few',
  'too_many',
  'unknown_field',
  'unknown_merge_tag',
] as const
export type DetailCode = (typeof detailCodes)[number]

/** `param` is a JavaScript path such as `button.action.buttons[0].reply.title`. */
export interface Detail {
  readonly param: string
  readonly code: DetailCode
  readonly message: string
}
