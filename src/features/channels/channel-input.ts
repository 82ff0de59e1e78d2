/** What a caller writes of a channel, looked at before its provider is asked. Pure. */
import type { Detail } from '../../contract/errors.ts'
import { isPhoneChannel, type ChannelType } from '../../contract/resources/channel.ts'
import { validator } from '../../contract/validation.ts'
import type { Provider } from './adapter.ts'

const phone = /^\+[1-9]\d{6,14}$/
const shortCode = /^\d{3,8}$/
const alphanumeric = /^(?=.*[A-Za-z])[A-Za-z0-9 &._-]{1,11}$/

/** What is wrong with the sender of a channel of this type. */
export function wrongIdentifier(type: ChannelType, identifier: string | undefined): Detail[] {
  if (identifier === undefined || !isPhoneChannel(type)) return []
  if (phone.test(identifier) || (type === 'sms' && (shortCode.test(identifier) || alphanumeric.test(identifier)))) return []
  const message =
    type === 'sms'
      ? 'Give an E.164 number such as +4915112345678, a short code, or up to 11 letters and digits.'
      : 'Give an E.164 number such as +4915112345678.'
  return [{ param: 'identifier', code: 'invalid_format', message }]
}

/** What is wrong with the sender as it is given for this provider. */
export const wrongSender = (provider: Provider, type: ChannelType, identifier: string | undefined): Detail[] =>
  identifier === undefined && provider.identifier === 'given'
    ? [{ param: 'identifier', code: 'missing_field', message: `Give the identifier of the sender: ${provider.title} does not tell it.` }]
    : wrongIdentifier(type, identifier)

/** What is wrong with settings that every provider knows. */
export function wrongSettings(given: Record<string, unknown> | undefined): Detail[] {
  const rate = given?.['max_messages_per_second'] ?? 1
  const failures: Detail[] = []
  if (typeof rate !== 'number' || !Number.isInteger(rate) || rate < 1 || rate > 100_000)
    failures.push({
      param: 'settings.max_messages_per_second',
      code: 'invalid_value',
      message: 'Give a whole number of messages per second from 1 to 100000.',
    })
  if (typeof (given?.['mms'] ?? false) !== 'boolean')
    failures.push({ param: 'settings.mms', code: 'invalid_type', message: 'Give true where the sender can carry attachments, else false.' })
  return failures
}

/** What is wrong with settings that the provider knows; those that nobody knows are kept as they are. */
export const wrongOwnSettings = ({ settings }: Provider, given: Record<string, unknown> | undefined): Detail[] =>
  settings === undefined || given === undefined ? [] : validator(settings)(given, 'settings')

/** Messages a second where the settings of a channel say nothing. */
export const defaultRate: Readonly<Record<ChannelType, number>> = { whatsapp: 80, sms: 30, telegram: 30 }

/** The settings of a new or changed channel, with its rate. */
export const withRate = (type: ChannelType, given: Record<string, unknown>): Record<string, unknown> => ({
  ...given,
  max_messages_per_second: given['max_messages_per_second'] ?? defaultRate[type],
})
