/** What a person has entered and not yet sent: it survives a reload, per account, mode and form, in this browser's tab. */
import { useState } from 'react'
import type { Place } from '../paths.ts'

const prefix = 'draft '

/** The draft, what changes it, and what forgets it. Without a name it is kept nowhere. Fields that the stored one lacks are those of `first`. */
export function useDraft<D extends object>({ account, mode }: Place, name: string | undefined, first: D): readonly [D, (draft: D) => void, () => void] {
  const key = name === undefined ? undefined : `${prefix}${account} ${mode} ${name}`
  const [draft, setDraft] = useState<D>(() => ({ ...first, ...(key === undefined ? {} : stored(key)) }))
  const change = (next: D) => {
    setDraft(next)
    if (key !== undefined) sessionStorage.setItem(key, JSON.stringify(next))
  }
  const forget = () => {
    setDraft(first)
    if (key !== undefined) sessionStorage.removeItem(key)
  }
  return [draft, change, forget]
}

/** Whoever signs in next is to find nothing. */
export function forgetDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key)
}

function stored(key: string): object {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? '{}') as object
  } catch {
    return {}
  }
}
