/** Form drafts in sessionStorage, which survive a reload. */
import { useEffect, useMemo, useRef, useState } from 'react'
import { useRequiredSession } from '../../api/session.ts'
import { type IdempotencyKeys, keyFor, randomId } from '../../api/use-action.ts'
import type { Workspace } from '../../app/paths.ts'

interface StoredDraft<D> {
  readonly draft: D
  readonly base?: string | undefined
}

export interface DraftState<D> {
  readonly initial: D
  readonly hasConflict: boolean
  readonly markSaved: () => void
}

/** Draft, setter, discard, state. Without a `name` nothing is stored. Until edited, the draft follows `first`. */
export function useDraft<D extends object>(
  workspace: Workspace,
  name: string | undefined,
  first: D,
): readonly [D, (draft: D) => void, () => void, DraftState<D>] {
  const { user } = useRequiredSession()
  const key = name === undefined ? undefined : draftKey(user.id, workspace, name)
  const [storedDraft, setStoredDraft] = useState<StoredDraft<D> | undefined>(() =>
    key === undefined ? undefined : readStoredDraft<D>(key),
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

function readStoredDraft<D>(key: string): StoredDraft<D> | undefined {
  try {
    const storedDraft = JSON.parse(readDraft(key) ?? 'null') as StoredDraft<D> | null
    return typeof storedDraft?.draft === 'object' ? storedDraft : undefined
  } catch {
    return undefined
  }
}

/** For actions that cost money or reach people: keys survive a reload. */
export function useStoredIdempotencyKeys(workspace: Workspace, name: string): IdempotencyKeys {
  const { user } = useRequiredSession()
  const key = draftKey(user.id, workspace, `attempt ${name}`)
  useEffect(() => {
    if (readDraft(key) === undefined) writeDraft(key, randomId())
  }, [key])
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

const draftKey = (user_id: string, { account, mode }: Workspace, name: string): string =>
  `${prefix}${user_id} ${account} ${mode} ${name}`

function writeDraft(key: string, text: string): void {
  try {
    sessionStorage.setItem(key, text)
  } catch {
    sessionStorage.removeItem(key)
  }
}

const readDraft = (key: string): string | undefined => sessionStorage.getItem(key) ?? undefined

const removeDraft = (key: string): void => sessionStorage.removeItem(key)

export function clearDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key)
}
