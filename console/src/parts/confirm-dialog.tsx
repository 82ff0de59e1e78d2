/** Asks before something that cannot be undone. Its button is named as what opens it. */
import { Button, Group, Stack, Text } from '@mantine/core'
import type { Action } from '../api/use-action.ts'
import { text } from '../text/en.ts'
import { Dialog } from './dialog.tsx'
import { ProblemAlert } from './problem-alert.tsx'

export interface ConfirmDialogProps {
  readonly title: string
  /** What will happen. */
  readonly why: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly action: Pick<Action<never>, 'problem' | 'isRunning'>
  readonly onConfirm: () => void
}

export function ConfirmDialog({ title, why, isOpen, onClose, action, onConfirm }: ConfirmDialogProps) {
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose}>
      <Stack>
        <Text dir="auto">{why}</Text>
        {action.problem !== undefined && <ProblemAlert problem={action.problem} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {text.dialog.cancel}
          </Button>
          <Button color="red" loading={action.isRunning} onClick={onConfirm}>
            {title}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
