/** Deletes what the screen is about, when it has been asked about, and goes to the list that it was in. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answered } from '../api/client.ts'
import { useAction } from '../api/use-action.ts'
import { useStale } from '../api/use-stale.ts'
import { pathTo, type Place } from '../paths.ts'
import { ActionButton } from './action-button.tsx'
import { ConfirmDialog } from './confirm-dialog.tsx'

export interface DeleteButtonProps {
  readonly place: Place
  readonly id: string
  readonly words: { readonly delete: string; readonly deleteWhy: string }
  readonly because: string | undefined
  readonly remove: (id: string) => Parameters<typeof answered>[0]
  /** The section of the list: `campaigns`. */
  readonly section: string
  /** Operations whose answers it stood in, by how they begin. */
  readonly stale: readonly string[]
  readonly onDeleted?: () => void
}

export function DeleteButton({ place, id, words, because, remove, section, stale, onDeleted }: DeleteButtonProps) {
  const navigate = useNavigate()
  const refresh = useStale(place)
  const [isAsking, setAsking] = useState(false)
  const action = useAction(
    (gone: string) => answered(remove(gone)),
    async () => {
      onDeleted?.()
      await navigate({ to: pathTo(place, section) as never })
      await refresh(...stale)
    },
  )
  return (
    <>
      <ActionButton label={words.delete} variant="default" because={because} onPress={() => setAsking(true)} />
      <ConfirmDialog
        title={words.delete}
        why={words.deleteWhy}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        action={action}
        onConfirm={() => action.run(id)}
      />
    </>
  )
}
