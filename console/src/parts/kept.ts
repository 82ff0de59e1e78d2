/** What is kept in this browser's tab, per person, account and mode. */
import type { Place } from '../paths.ts'

const prefix = 'draft '

export const draftKey = (user_id: string, { account, mode }: Place, name: string): string =>
  `${prefix}${user_id} ${account} ${mode} ${name}`

/** What is more than the browser keeps is not kept. */
export function keep(key: string, text: string): void {
  try {
    sessionStorage.setItem(key, text)
  } catch {
    sessionStorage.removeItem(key)
  }
}

export const keptText = (key: string): string | undefined => sessionStorage.getItem(key) ?? undefined

export const forgetKept = (key: string): void => sessionStorage.removeItem(key)

/** Whoever signs in next is to find nothing. */
export function forgetDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key)
}
