/** A dialog that is named by its title; the focus goes into it and back to what opened it. */
import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { text } from '../text/en.ts'

export interface DialogProps {
  readonly title: string
  readonly isOpen: boolean
  /** Absent: only what stands in it closes it. */
  readonly onClose?: (() => void) | undefined
  readonly size?: 'md' | 'lg'
  readonly children: ReactNode
}

export function Dialog({ title, isOpen, onClose, size = 'md', children }: DialogProps) {
  const closable = onClose !== undefined
  return (
    <Modal
      opened={isOpen}
      onClose={onClose ?? (() => undefined)}
      title={title}
      size={size}
      withCloseButton={closable}
      closeOnEscape={closable}
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': text.dialog.close }}
      transitionProps={{ duration: 0 }}
    >
      {children}
    </Modal>
  )
}
