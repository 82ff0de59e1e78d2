/** Recognises opt-out, opt-in and help keywords in inbound messages (behaviour: consent 3). Pure. */
import type { Settings } from '../../../config/settings.ts'

export type Keyword = 'opt_out' | 'opt_in' | 'help'
export type KeywordLists = Pick<Settings, 'opt_out_keywords' | 'opt_in_keywords' | 'help_keywords'>

const plain = (text: string): string =>
  text.normalize('NFKD').replace(/\p{M}/gu, '').toUpperCase().replace(/\s+/gu, ' ').trim()

export function keywordReader(lists: KeywordLists): (type: string, content: unknown) => Keyword | null {
  const known = new Map<string, Keyword>()
  for (const word of lists.help_keywords) known.set(plain(word), 'help')
  for (const word of lists.opt_in_keywords) known.set(plain(word), 'opt_in')
  for (const word of lists.opt_out_keywords) known.set(plain(word), 'opt_out')
  const longest = Math.max(0, ...[...known.keys()].map((word) => word.length))
  const look = (text: unknown): Keyword | null => {
    if (typeof text !== 'string' || text.length > longest + 64) return null
    const word = plain(text)
    // `/stop`, and `/stop@botname` in groups
    return known.get(word) ?? (word.startsWith('/') ? (known.get(word.slice(1).replace(/@\S*$/, '')) ?? null) : null)
  }
  return (type, content) => {
    if (typeof content !== 'object' || content === null) return null
    const fields = content as Record<string, unknown>
    if (type === 'text') return look(fields['body'])
    // a tapped "Yes" answers the question above it; it is no opt-in
    if (type === 'button_reply')
      return look(fields['id']) === 'opt_out' || look(fields['title']) === 'opt_out' ? 'opt_out' : null
    return null
  }
}

/** https://core.telegram.org/bots/features#commands */
export const isBotStart = (channel_type: string, type: string, content: unknown): boolean =>
  channel_type === 'telegram' &&
  type === 'text' &&
  /^\s*\/start(?:@\S*)?(?:\s|$)/i.test(String((content as { body?: unknown } | null)?.body ?? ''))
