/** A button that stays visible, disabled with a reason, when not allowed. */
import { Button, type ButtonProps, VisuallyHidden } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { unwrap } from '../../api/client.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useInvalidate } from '../../api/use-api-query.ts'
import { pathTo, type Workspace } from '../../app/paths.ts'
import { ConfirmDialog } from '../feedback/dialog.tsx'

interface ActionButtonProps extends ButtonProps {
  readonly label: string
  readonly named?: string
  readonly onPress: () => void
  readonly disabledReason?: string | undefined
}

export function ActionButton({ label, named, onPress, disabledReason, ...props }: ActionButtonProps) {
  const reason = useId()
  if (disabledReason === undefined)
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
        title={disabledReason}
        onClick={(event) => event.preventDefault()}
      >
        {label}
      </Button>
      <VisuallyHidden id={reason}>{disabledReason}</VisuallyHidden>
    </>
  )
}

interface DeleteButtonProps {
  readonly workspace: Workspace
  readonly id: string
  readonly words: { readonly delete: string; readonly deleteWhy: string }
  readonly disabledReason: string | undefined
  readonly remove: (id: string) => Parameters<typeof unwrap>[0]
  readonly section: string
  readonly invalidate: readonly string[]
  readonly onDeleted?: () => void
}

export function DeleteButton({
  workspace,
  id,
  words,
  disabledReason,
  remove,
  section,
  invalidate,
  onDeleted,
}: DeleteButtonProps) {
  const navigate = useNavigate()
  const refresh = useInvalidate(workspace)
  const [isAsking, setAsking] = useState(false)
  const action = useApiMutation(
    (gone: string) => unwrap(remove(gone)),
    async () => {
      onDeleted?.()
      await navigate({ to: pathTo(workspace, section) as never })
      await refresh(...invalidate)
    },
  )
  return (
    <>
      <ActionButton
        label={words.delete}
        variant="default"
        disabledReason={disabledReason}
        onPress={() => setAsking(true)}
      />
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
