/** Credentials and settings of an SMPP channel. */
import { isIPv6 } from 'node:net'
import { Type, type Static } from 'typebox'
import type { Detail } from '../../api/errors.ts'
import { urlRefusal } from '../../lib/public-address.ts'
import type { Connection, Provider } from '../provider.ts'

const ports = { plain: 2775, tls: 3550 } as const

export const credentials = Type.Object({
  host: Type.String({
    title: 'Host',
    description:
      'Host name or address of the SMSC, from the operator. It must be public, unless the operator of this installation allows it.',
    minLength: 1,
    maxLength: 253,
  }),
  port: Type.Optional(
    Type.Integer({
      title: 'Port',
      description: 'Port of the SMSC, from the operator. Default: 2775, or 3550 with TLS.',
      minimum: 1,
      maximum: 65_535,
    }),
  ),
  tls: Type.Optional(
    Type.Boolean({
      title: 'TLS',
      description: 'Connect with TLS and check the certificate. Default: off.',
      default: false,
    }),
  ),
  system_id: Type.String({
    title: 'System ID',
    description: 'The user name of the account, from the operator.',
    minLength: 1,
    maxLength: 15,
    pattern: '^[!-~]+$',
  }),
  password: Type.String({
    title: 'Password',
    description: 'The password of the account, from the operator; at most 8 characters (SMPP 3.4).',
    format: 'password',
    maxLength: 8,
    pattern: '^[ -~]*$',
  }),
  system_type: Type.Optional(
    Type.String({
      title: 'System type',
      description: 'Only if the operator requires one; most do not.',
      maxLength: 12,
      pattern: '^[!-~]*$',
    }),
  ),
  bind_mode: Type.Optional(
    Type.String({
      title: 'Bind mode',
      description:
        'How to bind: as one `transceiver`, or as `transmitter_receiver` with two connections. Default: `transceiver`.',
      enum: ['transceiver', 'transmitter_receiver'],
      default: 'transceiver',
    }),
  ),
})

export const settings = Type.Object({
  window_size: Type.Optional(
    Type.Integer({
      title: 'Window',
      description: 'How many messages may wait for a response at once, as the operator allows.',
      minimum: 1,
      maximum: 1000,
      default: 10,
    }),
  ),
  source_ton: Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: 6 }), Type.Null()], {
      title: 'Type of the sender',
      description:
        'Type of number (TON) of the sender, if the operator requires one. Default: 1 for an international number, 5 for letters, 0 for a short code.',
      default: null,
    }),
  ),
  source_npi: Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: 18 }), Type.Null()], {
      title: 'Plan of the sender',
      description:
        'Numbering plan (NPI) of the sender, if the operator requires one. Default: 1 for an international number, otherwise 0.',
      default: null,
    }),
  ),
  enquire_link_seconds: Type.Optional(
    Type.Integer({
      title: 'Link check',
      description: 'Interval in seconds at which the connection is checked (`enquire_link`).',
      minimum: 5,
      maximum: 600,
      default: 30,
    }),
  ),
  alphabet: Type.Optional(
    Type.String({
      title: 'Alphabet',
      description:
        'The default alphabet of the SMSC (`data_coding` 0); ask the operator. Texts with other characters are sent as UCS-2.',
      enum: ['gsm7', 'latin1', 'ascii'],
      default: 'gsm7',
    }),
  ),
  long_messages: Type.Optional(
    Type.String({
      title: 'Long messages',
      description:
        'How long texts are sent: in parts joined by a header in the text (`udh`) or by `sar` parameters, or whole, so that the SMSC splits them (`payload`).',
      enum: ['udh', 'sar', 'payload'],
      default: 'udh',
    }),
  ),
  receipt_ids: Type.Optional(
    Type.String({
      title: 'Ids in receipts',
      description:
        'How delivery receipts write message ids, if that differs from the responses to sending: `hex`, `decimal`, or `auto`, which tries both.',
      enum: ['auto', 'hex', 'decimal'],
      default: 'auto',
    }),
  ),
  retry_statuses: Type.Optional(
    Type.Array(Type.String({ pattern: '^0[xX][0-9A-Fa-f]{1,8}$' }), {
      title: 'Retry statuses',
      description:
        'Values of `command_status`, in hex, after which the operator accepts the message later: `["0x45", "0x400"]`. The message is then repeated within its validity period instead of failing.',
      maxItems: 100,
      default: [],
    }),
  ),
})

export interface Options {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  readonly system_id: string
  readonly password: string
  readonly system_type: string
  readonly pair: boolean
  readonly window_size: number
  readonly enquire_every_ms: number
  readonly identifier: string
  readonly source: { readonly address: string; readonly ton: number; readonly npi: number }
  readonly alphabet: 'gsm7' | 'latin1' | 'ascii'
  readonly long_messages: 'udh' | 'sar' | 'payload'
  readonly receipt_ids: 'auto' | 'hex' | 'decimal'
  readonly retry_statuses: ReadonlySet<number>
}

export function optionsOf(connection: Connection): Options {
  const fields = connection.credentials as Static<typeof credentials>
  const set = connection.settings as Static<typeof settings>
  const tls = fields.tls ?? false
  return {
    host: fields.host,
    port: fields.port ?? (tls ? ports.tls : ports.plain),
    tls,
    system_id: fields.system_id,
    password: fields.password,
    system_type: fields.system_type ?? '',
    pair: fields.bind_mode === 'transmitter_receiver',
    window_size: set.window_size ?? 10,
    enquire_every_ms: (set.enquire_link_seconds ?? 30) * 1000,
    identifier: connection.identifier,
    source: sourceOf(connection.identifier, set.source_ton ?? null, set.source_npi ?? null),
    alphabet: (set.alphabet ?? 'gsm7') as Options['alphabet'],
    long_messages: (set.long_messages ?? 'udh') as Options['long_messages'],
    receipt_ids: (set.receipt_ids ?? 'auto') as Options['receipt_ids'],
    retry_statuses: new Set((set.retry_statuses ?? []).map((status) => Number(status.toLowerCase()))),
  }
}

/** Every session of a login may receive the receipts of all its messages. */
export function accountKey(connection: Connection): string {
  const { host, port, system_id } = optionsOf(connection)
  return `${host.toLowerCase()}:${port} ${system_id}`
}

function sourceOf(identifier: string, ton: number | null, npi: number | null): Options['source'] {
  const form = identifier.startsWith('+')
    ? { ton: 1, npi: 1 }
    : /^\d+$/.test(identifier)
      ? { ton: 0, npi: 0 }
      : { ton: 5, npi: 0 }
  return { address: identifier.replace(/^\+/, ''), ton: ton ?? form.ton, npi: npi ?? form.npi }
}

/** Private addresses and local names. Resolved addresses are checked when dialled. */
export const check: NonNullable<Provider['check']> = ({ credentials: fields, allowed_hosts }) => {
  const { host, port, tls } = fields as Static<typeof credentials>
  if (allowed_hosts.includes(`${host.toLowerCase()}:${port ?? (tls === true ? ports.tls : ports.plain)}`)) return []
  const refusal = (message: string): Detail[] => [{ param: 'credentials.host', code: 'invalid_value', message }]
  const written = isIPv6(host) ? `[${host}]` : host
  const plain = isIPv6(host) || /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(host)
  const wrong = plain ? urlRefusal(`https://${written}/`, []) : 'unparsable'
  if (wrong === null && (isIPv6(host) || new URL(`https://${written}/`).hostname === host.toLowerCase())) return []
  if (wrong === null || wrong === 'unparsable')
    return refusal('Give only the name or address of the SMSC, such as smpp.example.com, without a scheme or a port.')
  return refusal(
    'Give a host on the public internet. The operator of this installation can allow others by name and port in POSTHORN_WEBHOOK_ALLOWED_HOSTS.',
  )
}
