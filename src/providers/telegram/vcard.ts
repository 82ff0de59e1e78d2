/** Address cards as vCard 3.0 (RFC 2426), which Telegram shows beside name and number. */

export interface Card {
  readonly name: {
    readonly formatted_name: string
    readonly first_name?: string | null
    readonly last_name?: string | null
  }
  readonly phones?: readonly { readonly phone: string; readonly type?: string | null }[] | null
  readonly emails?: readonly { readonly email: string }[] | null
  readonly org?: {
    readonly company?: string | null
    readonly department?: string | null
    readonly title?: string | null
  } | null
  readonly urls?: readonly { readonly url: string }[] | null
  readonly birthday?: string | null
}

/** Telegram's bound, in bytes. */
const vcardBytesMax = 2048

const escaped = (text: string): string => text.replace(/[\\;,]/g, '\\$&').replace(/\r?\n|\r/g, '\\n')

/** null where name and number say it all, and where it would be longer than Telegram takes. */
export function vcardOf({ name, phones, emails, org, urls, birthday }: Card): string | null {
  const more = [
    ...(phones ?? []).slice(1).map(({ phone }) => `TEL:${escaped(phone)}`),
    ...(emails ?? []).map(({ email }) => `EMAIL:${escaped(email)}`),
    ...(org?.company ? [`ORG:${[org.company, org.department ?? ''].filter(Boolean).map(escaped).join(';')}`] : []),
    ...(org?.title ? [`TITLE:${escaped(org.title)}`] : []),
    ...(urls ?? []).map(({ url }) => `URL:${escaped(url)}`),
    ...(birthday ? [`BDAY:${escaped(birthday)}`] : []),
  ]
  if (more.length === 0) return null
  const lines = [
    'BEGIN:VCARD',
    'VERSION:3.0',
    `N:${escaped(name.last_name ?? '')};${escaped(name.first_name || name.formatted_name)};;;`,
    `FN:${escaped(name.formatted_name)}`,
    `TEL:${escaped(phones?.[0]?.phone ?? '')}`,
    ...more,
    'END:VCARD',
  ]
  const card = lines.join('\r\n')
  return Buffer.byteLength(card) <= vcardBytesMax ? card : null
}
