/** Recipients as keys: which row of `contact_addresses` and which suppression a message's `to` means. Pure, and cheap enough for every message. */
import type { Tenant } from '../../api/caller.ts'
import { channelTypes, isPhoneChannel } from '../../api/resources/channel.ts'
import { phoneKey, phoneVariants } from '../../lib/phone.ts'

/** Channel types that write to phone numbers: their recipients share the kind `phone`. */
export const phoneChannelTypes: readonly string[] = channelTypes.filter(isPhoneChannel)

/** A row's key in `contact_addresses`, with account and mode. */
export interface AddressKey {
  /** `phone`, or the channel type. */
  readonly kind: string
  readonly address: string
}

/** The key of a recipient: a phone's canonical number under `phone`; an identifier (a business-scoped id on whatsapp too) under its channel type. */
export function addressKeyOf(channelType: string, to: string): AddressKey {
  return to.charCodeAt(0) === 43 /* + */ && isPhoneChannel(channelType)
    ? { kind: 'phone', address: phoneKey(to) }
    : { kind: channelType, address: to }
}

/** Every `to` under which messages of this channel type may have been addressed to this key. */
export const recipientsOf = (key: AddressKey): string[] =>
  key.kind === 'phone' ? phoneVariants(key.address) : [key.address]

/** What `suppressionHash` needs of `platform.secrets`. */
export interface KeyedHash {
  keyedHash(text: string): string
}

/**
 * The `address_hash` of a suppression: `address` is that of `addressKeyOf`. For an opt-out of marketing alone the channel
 * type is written `<type>.marketing`.
 */
export const suppressionHash = (secrets: KeyedHash, tenant: Tenant, channelType: string, address: string): string =>
  secrets.keyedHash(`${tenant.account_id}|${tenant.mode}|${channelType}|${address}`)

export interface AddressRow extends AddressKey {
  readonly contact_id: string
  readonly blocked: boolean
}
