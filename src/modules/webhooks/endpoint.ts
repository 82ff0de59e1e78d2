/** Webhook endpoints: row, JSON, and checks of client input. */
import { Type, type Static } from 'typebox'
import type { Detail } from '../../api/errors.ts'
import { isId } from '../../api/ids.ts'
import { metadataFailures } from '../../api/body-sizes.ts'
import { invalid, Problem, throwFailures } from '../../api/problem.ts'
import type { Tenant } from '../../api/caller.ts'
import {
  EndpointFilters,
  EventTypeList,
  type EndpointStatus,
  type WebhookEndpoint,
} from '../../api/resources/webhook-endpoint.ts'
import { NullableObject } from '../../api/resources/nullable.ts'
import type { Resolve } from '../../lib/sockets.ts'
import { addressKind, isAllowed, isLiteral, urlRefusal } from '../../lib/public-address.ts'

export interface EndpointRow extends Tenant {
  readonly id: string
  readonly url: string
  readonly description: string
  readonly events: string[]
  readonly status: EndpointStatus
  readonly filters: EndpointFilters
  readonly metadata: Record<string, unknown>
  readonly source: string | null
  readonly created_by: { readonly type: string; readonly id: string }
  /** Encrypted, like `previous_secret` and `verification_token`. */
  readonly secret: string
  readonly previous_secret: string | null
  readonly previous_secret_until: string | null
  readonly verification_token: string | null
  readonly version: number
  readonly created_at: string
}

export const endpointObject = (row: EndpointRow): WebhookEndpoint => ({
  id: row.id,
  object: 'webhook_endpoint',
  mode: row.mode,
  url: row.url,
  description: row.description,
  events: row.events,
  status: row.status,
  filters: row.filters,
  metadata: row.metadata,
  source: row.source,
  created_by: row.created_by,
  has_verification_token: row.verification_token !== null,
  created_at: row.created_at,
})

const url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'A public https address.',
  examples: ['https://example.com/webhooks'],
})
const description = Type.String({ maxLength: 500, description: 'For people.' })
const metadata = NullableObject({ description: 'Returned unchanged, up to 16 KB; null is {}.' })
const filters = Type.Unsafe<Static<typeof EndpointFilters> | null>({ ...EndpointFilters, type: ['object', 'null'] })
const verification_token = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  minLength: 8,
  maxLength: 255,
  pattern: '^[!-~]([ -~]*[!-~])?$',
  'x-format': 'printable ASCII characters, without blanks at its ends',
  writeOnly: true,
  description:
    'Sent with every delivery as `Service-Verification-Token`, for receivers that cannot compute an HMAC. Never returned.',
})

export const EndpointCreation = Type.Object({
  url,
  events: EventTypeList(),
  description: Type.Optional(description),
  metadata: Type.Optional(metadata),
  filters: Type.Optional(filters),
  verification_token: Type.Optional(verification_token),
  source: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      maxLength: 255,
      description: 'The integration source (`src_`) it is created for.',
    }),
  ),
})
export type EndpointCreation = Static<typeof EndpointCreation>

export const EndpointChange = Type.Object({
  url: Type.Optional(url),
  events: Type.Optional(EventTypeList({ description: 'Replaces the list.' })),
  description: Type.Optional(description),
  metadata: Type.Optional(metadata),
  filters: Type.Optional(filters),
  verification_token: Type.Optional(verification_token),
  status: Type.Optional(
    Type.Unsafe<'active' | 'disabled'>({
      type: 'string',
      enum: ['active', 'disabled'],
      description:
        '`active` enables a disabled endpoint: its count of failures starts anew, and what happened while it was disabled is never sent.',
    }),
  ),
})
export type EndpointChange = Static<typeof EndpointChange>

export const RollSecret = Type.Object({
  expire_previous_in_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 86_400,
      default: 0,
      description: 'How long deliveries are signed with the previous secret as well (a second `v1=`).',
    }),
  ),
})

/** A name that does not resolve by then is accepted. */
const lookupMs = 3_000

/** Checks beyond the schema, except for the url. */
export function endpointFailures({ events, metadata, source }: EndpointChange & { source?: string | null }): Detail[] {
  const found: Detail[] = []
  const refuse = (param: string, code: Detail['code'], message: string) => void found.push({ param, code, message })
  if (events !== undefined && events.length > 1 && events.includes('*'))
    refuse('events', 'invalid_value', '`*` matches every event type: use it alone, or list the types.')
  found.push(...metadataFailures(metadata))
  if (source !== undefined && source !== null && !isId('src', source))
    refuse('source', 'invalid_format', '`source` is the id of an integration source: `src_` and 26 characters.')
  return found
}

/** The url is checked last (behaviour: webhooks 3.2). */
export async function checkEndpoint(
  input: EndpointChange & { source?: string | null },
  rule: {
    allowed_hosts: readonly string[]
    resolve: Resolve
    sleep: (ms: number, signal: AbortSignal) => Promise<void>
  },
): Promise<void> {
  throwFailures(endpointFailures(input))
  if (input.url !== undefined) await checkUrl(input.url, rule)
}

async function checkUrl(text: string, rule: Parameters<typeof checkEndpoint>[1]): Promise<void> {
  const refusal = urlRefusal(text, rule.allowed_hosts)
  if (refusal === 'unparsable')
    throw invalid(
      'url',
      'invalid_format',
      '`url` is not an absolute URL. Write it with scheme and host and without blanks: https://example.com/webhooks.',
    )
  if (refusal !== null) throw notPublic(refusals[refusal])
  const parsed = new URL(text)
  if (isAllowed(parsed, rule.allowed_hosts) || isLiteral(parsed.hostname)) return
  if (await leadsToPrivate(parsed.hostname, rule))
    throw notPublic(`The host ${parsed.hostname} resolves to an address that is not public.`)
}

const refusals = {
  not_https: '`url` must start with https://.',
  user_info: '`url` must not hold a user name or password; use `verification_token` instead.',
  local_name: '`url` names a local host, which cannot be reached from the internet.',
  private_address: '`url` names an address that is not public.',
}

const notPublic = (sentence: string) =>
  new Problem(
    'webhook_url_not_public',
    `${sentence} For development, \`posthorn listen\` forwards events to a local address.`,
    { param: 'url' },
  )

/** Unresolved names are accepted: every attempt checks the address that it connects to. */
async function leadsToPrivate(
  hostname: string,
  { resolve, sleep }: Parameters<typeof checkEndpoint>[1],
): Promise<boolean> {
  const stop = new AbortController()
  const found = await Promise.race([
    resolve(hostname.replace(/\.$/, '')).catch(() => []),
    sleep(lookupMs, stop.signal).then(() => []),
  ])
  stop.abort()
  return found.some(({ address }) => addressKind(address) === 'private')
}
