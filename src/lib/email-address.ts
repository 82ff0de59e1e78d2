/** E-mail addresses that we send mail to: one strict form, a subset of RFC 5321 and RFC 6531. */
const lengthMax = 254
const localBytesMax = 64

/** Dot-separated atoms. No quotes, comments, lists or groups, which mail programs read as several addresses. */
const local = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u
const label = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u
const topLevel = /^(?=.*\p{L})[\p{L}\p{M}\p{N}-]{2,}$/u

export function isEmailAddress(text: string): boolean {
  const at = text.lastIndexOf('@')
  if (at < 1 || text.length > lengthMax || !text.isWellFormed()) return false
  const [name, domain] = [text.slice(0, at), text.slice(at + 1)]
  const labels = domain.split('.')
  return (
    local.test(name) &&
    Buffer.byteLength(name) <= localBytesMax &&
    labels.length >= 2 &&
    labels.every((each) => label.test(each)) &&
    topLevel.test(labels.at(-1)!)
  )
}

/** As users are found by it. The result may still be no address. */
export const normalizedEmail = (text: string): string => text.trim().normalize('NFC').toLowerCase()
