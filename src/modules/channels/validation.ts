/** Validates the fields of a channel before its provider is called. Pure. */
import type { Detail } from '../../api/errors.ts'
import { isPhoneChannel, type ChannelType } from '../../api/resources/channel.ts'
import { join, validator } from '../../api/validation.ts'
import { nearest } from '../../lib/text.ts'
import type { Provider } from '../../providers/provider.ts'

const phone = /^\+[1-9]\d{6,14}$/
const shortCode = /^\d{3,8}$/
const alphanumeric = /^(?=.*[A-Za-z])[A-Za-z0-9 &._-]{1,11}$/

export function wrongIdentifier(type: ChannelType, identifier: string | undefined): Detail[] {
  if (identifier === undefined || !isPhoneChannel(type)) return []
  if (phone.test(identifier) || (type === 'sms' && (shortCode.test(identifier) || alphanumeric.test(identifier))))
    return []
  const message =
    type === 'sms'
      ? 'Give an E.164 number such as +4915112345678, a short code, or up to 11 letters and digits.'
      : 'Give an E.164 number such as +4915112345678.'
  return [{ param: 'identifier', code: 'invalid_format', message }]
}

export const wrongSender = (provider: Provider, type: ChannelType, identifier: string | undefined): Detail[] =>
  identifier === undefined && provider.identifier === 'required'
    ? [
        {
          param: 'identifier',
          code: 'missing_field',
          message: `Give the identifier of the sender, since ${provider.title} does not report it.`,
        },
      ]
    : wrongIdentifier(type, identifier)

/** Unknown fields come first: they are often misspelt missing ones. */
export const wrongCredentials = (provider: Provider, values: Record<string, unknown>): Detail[] => [
  ...(isOpen(provider.credentials)
    ? []
    : unknownFields('credentials', values, Object.keys(provider.credentials.properties), provider)),
  ...validator(provider.credentials)(values, 'credentials'),
]

const isOpen = (schema: object): boolean => 'additionalProperties' in schema && schema.additionalProperties === true

export const wrongSettings = (
  provider: Provider | undefined,
  values: Record<string, unknown> | undefined,
): Detail[] => [
  ...(provider === undefined || values === undefined
    ? []
    : unknownFields(
        'settings',
        values,
        [...new Set([...sharedSettings, ...Object.keys(provider.settings?.properties ?? {})])],
        provider,
      )),
  ...wrongSharedSettings(values),
  ...(provider?.settings === undefined || values === undefined ? [] : validator(provider.settings)(values, 'settings')),
]

const sharedSettings = ['max_messages_per_second', 'mms']
const unknownNamedMax = 10
const nameLengthMax = 80

function unknownFields(
  base: 'credentials' | 'settings',
  values: Record<string, unknown>,
  known: readonly string[],
  { title }: Provider,
): Detail[] {
  const unknown = Object.keys(values).filter((name) => !known.includes(name))
  return unknown.slice(0, unknownNamedMax).map((name) => {
    const param = join(base, name)
    const meant = name.length > nameLengthMax ? undefined : nearest(name, known)
    const guess = meant === undefined ? '' : ` Did you mean \`${meant}\`?`
    return {
      param,
      code: 'unknown_field',
      message: `\`${param}\` is not known to ${title}.${guess} It takes ${known.join(', ')}.`,
    }
  })
}

function wrongSharedSettings(values: Record<string, unknown> | undefined): Detail[] {
  const rate = values?.['max_messages_per_second'] ?? 1
  const failures: Detail[] = []
  if (typeof rate !== 'number' || !Number.isInteger(rate) || rate < 1 || rate > 100_000)
    failures.push({
      param: 'settings.max_messages_per_second',
      code: 'invalid_value',
      message: 'Give a whole number of messages per second from 1 to 100000.',
    })
  if (typeof (values?.['mms'] ?? false) !== 'boolean')
    failures.push({
      param: 'settings.mms',
      code: 'invalid_type',
      message: 'Give true if the sender can send attachments, otherwise false.',
    })
  return failures
}

export const defaultRate: Readonly<Record<ChannelType, number>> = { whatsapp: 80, sms: 30, telegram: 30 }

export const withRate = (type: ChannelType, values: Record<string, unknown>): Record<string, unknown> => ({
  ...values,
  max_messages_per_second: values['max_messages_per_second'] ?? defaultRate[type],
})
