/** Addresses of contacts as keys of `contact_addresses` and of suppressions. Pure. */
import type { Tenant } from '../../api/caller.ts'
import { channelTypes, isPhoneChannel } from '../../api/resources/channel.ts'
import { phoneKey, phoneVariants } from '../../lib/phone.ts'

export const phoneChannelTypes: readonly string[] = channelTypes.filter(isPhoneChannel)

export interface AddressKey {
  readonly kind: string
  readonly address: string
}

/** `phone` and the canonical number, or the channel type and its identifier. */
export function addressKeyOf(channelType: string, to: string): AddressKey {
  return to.charCodeAt(0) === 43 /* + */ && isPhoneChannel(channelType)
    ? { kind: 'phone', address: phoneKey(to) }
    : { kind: channelType, address: to }
}

/** Every form of `to` that messages to this address may have. */
export const recipientsOf = (key: AddressKey): string[] =>
  key.kind === 'phone' ? phoneVariants(key.address) : [key.address]

export interface KeyedHash {
  keyedHash(text: string): string
}

/** The `address_hash` of a suppression. For an opt-out from marketing alone the channel type is `<type>.marketing`. */
export const suppressionHash = (secrets: KeyedHash, tenant: Tenant, channelType: string, address: string): string =>
  secrets.keyedHash(`${tenant.account_id}|${tenant.mode}|${channelType}|${address}`)

export interface AddressRow extends AddressKey {
  readonly contact_id: string
  readonly blocked: boolean
}
