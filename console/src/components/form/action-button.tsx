/** A button for what not everybody may do, or not now: it stays, cannot be pressed, and says why. */
import { Button, type ButtonProps, VisuallyHidden } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { answered } from '../../api/client.ts'
import { useAction } from '../../api/use-action.ts'
import { useStale } from '../../api/use-api-query.ts'
import { pathTo, type Place } from '../../app/paths.ts'
import { ConfirmDialog } from '../feedback/dialog.tsx'

interface ActionButtonProps extends ButtonProps {
  readonly label: string
  /** The whole name, where a screen has several buttons with one label; it begins with the label. */
  readonly named?: string
  readonly onPress: () => void
  /** Why it cannot be pressed; absent: it can. */
  readonly because?: string | undefined
}

export function ActionButton({ label, named, onPress, because, ...props }: ActionButtonProps) {
  const reason = useId()
  if (because === undefined)
    return (
      <Button onClick={onPress} aria-label={named} {...props}>
        {label}
      </Button>
    )
  return (
    <>
      <Button
        {...props}
        aria-label={named}
        data-disabled
        aria-disabled="true"
        aria-describedby={reason}
        title={because}
        onClick={(event) => event.preventDefault()}
      >
        {label}
      </Button>
      <VisuallyHidden id={reason}>{because}</VisuallyHidden>
    </>
  )
}

/** Deletes what the screen is about, when it has been asked about, and goes to the list that it was in. */
interface DeleteButtonProps {
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
