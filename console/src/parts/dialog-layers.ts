/** Dialogs lie over one another in the order in which they opened: the last one is in front, and alone hears Escape. */
import { useId, useLayoutEffect, useSyncExternalStore } from 'react'

/** Below lists that drop down, which lie at 300. */
const lowest = 200
let open: readonly string[] = []
const listeners = new Set<() => void>()
/** What had the focus before the dialog that closed last: what replaces it at once gives the focus back there. */
let left: Element | null = null

function change(layers: readonly string[]): void {
  open = layers
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export interface DialogLayer {
  readonly zIndex: number
  readonly isFront: boolean
}

/** Of a dialog that is open as long as it is mounted. */
export function useDialogLayer(): DialogLayer {
  const id = useId()
  const layers = useSyncExternalStore(subscribe, () => open)
  useLayoutEffect(() => {
    change([...open, id])
    return () => change(open.filter((other) => other !== id))
  }, [id])
  const place = layers.includes(id) ? layers.indexOf(id) : layers.length
  return { zIndex: lowest + place, isFront: place >= layers.length - 1 }
}

/** When it closes, the focus goes back to what opened it: where that is gone, to the dialog behind it, or to the heading. */
export function useFocusBack(): void {
  useLayoutEffect(() => {
    const { activeElement } = document
    const opener = activeElement === null || activeElement === document.body ? left : activeElement
    return () => {
      left = opener
      // what opens instead takes the focus itself
      setTimeout(() => giveBack(opener))
    }
  }, [])
}

const isFree = (): boolean => document.activeElement === null || document.activeElement === document.body

function giveBack(opener: Element | null): void {
  if (!isFree()) return
  const behind = [...document.querySelectorAll('[role="dialog"]')].at(-1)
  for (const element of [opener, behind, document.querySelector('h1')])
    if (isFree() && element instanceof HTMLElement && element.isConnected) element.focus({ preventScroll: true })
}

const fields =
  'input:not([type="hidden"], :disabled), textarea:not(:disabled), select:not(:disabled), [role="combobox"]'

/** The focus goes to the first field of what it is put on, or to the first button, and not to the cross in the corner. */
export function firstFieldFirst(content: HTMLElement | null): void {
  if (content === null || content.querySelector('[data-autofocus]') !== null) return
  const first = content.querySelector(fields) ?? content.querySelector('button:not(:disabled)')
  first?.setAttribute('data-autofocus', '')
}
