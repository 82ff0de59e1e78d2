/** A dialog that is named by its title; the focus goes to its first field and back to what opened it. */
import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { text } from '../text/en.ts'
import { firstFieldFirst, useDialogLayer, useFocusBack } from './dialog-layers.ts'

export interface DialogProps {
  readonly title: string
  readonly isOpen: boolean
  /** Absent: only what stands in it closes it. */
  readonly onClose?: (() => void) | undefined
  readonly size?: 'md' | 'lg'
  readonly children: ReactNode
}

export function Dialog({ isOpen, ...props }: DialogProps) {
  return isOpen && <OpenDialog {...props} />
}

function OpenDialog({ title, onClose, size = 'md', children }: Omit<DialogProps, 'isOpen'>) {
  const { zIndex, isFront } = useDialogLayer()
  useFocusBack()
  const closable = onClose !== undefined
  return (
    <Modal
      opened
      onClose={onClose ?? (() => undefined)}
      title={title}
      size={size}
      zIndex={zIndex}
      withCloseButton={closable}
      closeOnEscape={closable && isFront}
      closeOnClickOutside={false}
      returnFocus={false}
      closeButtonProps={{ 'aria-label': text.dialog.close }}
      transitionProps={{ duration: 0 }}
    >
      <div ref={firstFieldFirst}>{children}</div>
    </Modal>
  )
}
