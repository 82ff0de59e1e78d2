/** Dialogs. Focus moves to the first field, and back to the opener on closing. */
import { Button, Code, Group, Modal, Stack, Text } from '@mantine/core'
import { type ReactNode, useId, useLayoutEffect, useSyncExternalStore } from 'react'
import type { ApiMutation } from '../../api/use-action.ts'
import { text } from '../../text/en.ts'
import { ProblemAlert } from './alerts.tsx'
import { CopyButton } from './copy-button.tsx'

interface DialogProps {
  readonly title: string
  readonly isOpen: boolean
  readonly onClose?: (() => void) | undefined
  readonly size?: 'md' | 'lg'
  readonly children: ReactNode
}

export function Dialog({ isOpen, ...props }: DialogProps) {
  return isOpen && <OpenDialog {...props} />
}

function OpenDialog({ title, onClose, size = 'md', children }: Omit<DialogProps, 'isOpen'>) {
  const { zIndex, isFront } = useDialogLayer()
  useRestoreFocus()
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
      <div ref={markAutofocus}>{children}</div>
    </Modal>
  )
}

interface ConfirmDialogProps {
  readonly title: string
  readonly why: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly action: Pick<ApiMutation<never>, 'problem' | 'isRunning'>
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

interface SecretDialogProps {
  readonly title: string
  readonly secret: string | undefined
  readonly also?: { readonly label: string; readonly secret: string } | undefined
  readonly onStored: () => void
}

export function SecretDialog({ title, secret, also, onStored }: SecretDialogProps) {
  return (
    <Dialog title={title} isOpen={secret !== undefined}>
      <Stack>
        <Text size="sm">{text.secret.once}</Text>
        <Code block className="code">
          {secret}
        </Code>
        {also !== undefined && (
          <>
            <Text size="sm">{also.label}</Text>
            <Code block className="code">
              {also.secret}
            </Code>
          </>
        )}
        <Group justify="flex-end">
          <CopyButton value={secret ?? ''} />
          <Button onClick={onStored}>{text.secret.stored}</Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

/** Below Mantine's dropdowns (300). */
const lowest = 200
let open: readonly string[] = []
const listeners = new Set<() => void>()
/** Opener of the dialog closed last, for a dialog that replaces it. */
let left: Element | null = null

function change(layers: readonly string[]): void {
  open = layers
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Only the front dialog reacts to Escape. */
interface DialogLayer {
  readonly zIndex: number
  readonly isFront: boolean
}

function useDialogLayer(): DialogLayer {
  const id = useId()
  const layers = useSyncExternalStore(subscribe, () => open)
  useLayoutEffect(() => {
    change([...open, id])
    return () => change(open.filter((other) => other !== id))
  }, [id])
  const workspace = layers.includes(id) ? layers.indexOf(id) : layers.length
  return { zIndex: lowest + workspace, isFront: workspace >= layers.length - 1 }
}

/** To the opener, else to the dialog below, else to the heading. */
function useRestoreFocus(): void {
  useLayoutEffect(() => {
    const { activeElement } = document
    const opener = activeElement === null || activeElement === document.body ? left : activeElement
    return () => {
      left = opener
      // after a replacing dialog has taken the focus
      setTimeout(() => restoreFocus(opener))
    }
  }, [])
}

const isFocusFree = (): boolean => document.activeElement === null || document.activeElement === document.body

function restoreFocus(opener: Element | null): void {
  if (!isFocusFree()) return
  const behind = [...document.querySelectorAll('[role="dialog"]')].at(-1)
  for (const element of [opener, behind, document.querySelector('h1')])
    if (isFocusFree() && element instanceof HTMLElement && element.isConnected) element.focus({ preventScroll: true })
}

const fields =
  'input:not([type="hidden"], :disabled), textarea:not(:disabled), select:not(:disabled), [role="combobox"]'

function markAutofocus(content: HTMLElement | null): void {
  if (content === null || content.querySelector('[data-autofocus]') !== null) return
  const first = content.querySelector(fields) ?? content.querySelector('button:not(:disabled)')
  first?.setAttribute('data-autofocus', '')
}
