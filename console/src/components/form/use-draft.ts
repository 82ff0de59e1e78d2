/** What a person has entered and not yet sent: it survives a reload, per person, account, mode and form, in this browser's tab. */
import { useEffect, useMemo, useRef, useState } from 'react'
import { useRequiredSession } from '../../api/session.ts'
import { type IdempotencyKeys, keyFor, randomId } from '../../api/use-action.ts'
import type { Workspace } from '../../app/paths.ts'

/** What was entered, and what the form was filled with when that began; absent where that is not known. */
interface StoredDraft<D> {
  readonly draft: D
  readonly base?: string | undefined
}

export interface DraftState<D> {
  /** What the form was filled with when the draft was begun. */
  readonly initial: D
  /** What the form is about was changed by somebody else since the draft was begun. */
  readonly hasConflict: boolean
  /** The draft was stored: what the form is about changes by that. */
  readonly markSaved: () => void
}

/**
 * The draft, what changes it, and what forgets it. Without a name it is kept nowhere. Until something is entered it is `first`, as that is now; fields that a kept one lacks are
 * those of `first`.
 */
export function useDraft<D extends object>(
  workspace: Workspace,
  name: string | undefined,
  first: D,
): readonly [D, (draft: D) => void, () => void, DraftState<D>] {
  const { user } = useRequiredSession()
  const key = name === undefined ? undefined : draftKey(user.id, workspace, name)
  const [storedDraft, setStoredDraft] = useState<StoredDraft<D> | undefined>(() =>
    key === undefined ? undefined : kept<D>(key),
  )
  const now = JSON.stringify(first)
  const save = (next: StoredDraft<D> | undefined) => {
    setStoredDraft(next)
    if (key === undefined) return
    if (next === undefined) removeDraft(key)
    else writeDraft(key, JSON.stringify(next))
  }
  const draft = storedDraft === undefined ? first : { ...first, ...storedDraft.draft }
  const hasConflict = storedDraft?.base !== undefined && storedDraft.base !== now && JSON.stringify(draft) !== now
  return [
    draft,
    (next) => save({ draft: next, base: storedDraft?.base ?? now }),
    () => save(undefined),
    {
      initial: storedDraft?.base === undefined ? first : (JSON.parse(storedDraft.base) as D),
      hasConflict,
      markSaved: () => save({ draft, base: undefined }),
    },
  ]
}

function kept<D>(key: string): StoredDraft<D> | undefined {
  try {
    const storedDraft = JSON.parse(readDraft(key) ?? 'null') as StoredDraft<D> | null
    return typeof storedDraft?.draft === 'object' ? storedDraft : undefined
  } catch {
    return undefined
  }
}

/** `name` tells it from others of the account and mode. */
export function useStoredIdempotencyKeys(workspace: Workspace, name: string): IdempotencyKeys {
  const { user } = useRequiredSession()
  const key = draftKey(user.id, workspace, `attempt ${name}`)
  useEffect(() => {
    if (readDraft(key) === undefined) writeDraft(key, randomId())
  }, [key])
  // where the browser keeps nothing it is the same until it is over or the page is left
  const own = useRef<string>(undefined)
  return useMemo(
    () => ({
      keyFor: (input) => keyFor(readDraft(key) ?? (own.current ??= randomId()), input),
      over() {
        own.current = undefined
        removeDraft(key)
        writeDraft(key, randomId())
      },
    }),
    [key],
  )
}

const prefix = 'draft '

/** What is kept in this browser's tab, per person, account and mode. */
const draftKey = (user_id: string, { account, mode }: Workspace, name: string): string =>
  `${prefix}${user_id} ${account} ${mode} ${name}`

/** What is more than the browser keeps is not kept. */
function writeDraft(key: string, text: string): void {
  try {
    sessionStorage.setItem(key, text)
  } catch {
    sessionStorage.removeItem(key)
  }
}

const readDraft = (key: string): string | undefined => sessionStorage.getItem(key) ?? undefined

const removeDraft = (key: string): void => sessionStorage.removeItem(key)

/** Whoever signs in next is to find nothing. */
export function clearDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key)
}
