/** What a person has entered and not yet sent: it survives a reload, per person, account, mode and form, in this browser's tab. */
import { useState } from 'react'
import { useOwnSession } from '../api/session.ts'
import type { Place } from '../paths.ts'
import { draftKey, forgetKept, keep as store, keptText } from './kept.ts'

/** What was entered, and what the form was filled with when that began; absent where that is not known. */
interface Entered<D> {
  readonly draft: D
  readonly base?: string | undefined
}

export interface DraftState<D> {
  /** What the form was filled with when the draft was begun. */
  readonly began: D
  /** What the form is about was changed by somebody else since the draft was begun. */
  readonly isOutdated: boolean
  /** The draft was stored: what the form is about changes by that. */
  readonly wasStored: () => void
}

/**
 * The draft, what changes it, and what forgets it. Without a name it is kept nowhere. Until something is entered it is `first`, as that is now; fields that a kept one lacks are
 * those of `first`.
 */
export function useDraft<D extends object>(
  place: Place,
  name: string | undefined,
  first: D,
): readonly [D, (draft: D) => void, () => void, DraftState<D>] {
  const { user } = useOwnSession()
  const key = name === undefined ? undefined : draftKey(user.id, place, name)
  const [entered, setEntered] = useState<Entered<D> | undefined>(() => (key === undefined ? undefined : kept<D>(key)))
  const now = JSON.stringify(first)
  const keep = (next: Entered<D> | undefined) => {
    setEntered(next)
    if (key === undefined) return
    if (next === undefined) forgetKept(key)
    else store(key, JSON.stringify(next))
  }
  const draft = entered === undefined ? first : { ...first, ...entered.draft }
  const isOutdated = entered?.base !== undefined && entered.base !== now && JSON.stringify(draft) !== now
  return [
    draft,
    (next) => keep({ draft: next, base: entered?.base ?? now }),
    () => keep(undefined),
    {
      began: entered?.base === undefined ? first : (JSON.parse(entered.base) as D),
      isOutdated,
      wasStored: () => keep({ draft, base: undefined }),
    },
  ]
}

function kept<D>(key: string): Entered<D> | undefined {
  try {
    const entered = JSON.parse(keptText(key) ?? 'null') as Entered<D> | null
    return typeof entered?.draft === 'object' ? entered : undefined
  } catch {
    return undefined
  }
}
