/** A button that copies a text. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { text } from '../../text/en.ts'

export function CopyButton({ value }: { value: string }) {
  const [copied, setCopied] = useState<string>()
  return (
    <Button variant="default" onClick={() => void copyText(value).then(() => setCopied(value))}>
      {copied === value ? text.api.copied : text.api.copy}
    </Button>
  )
}

/** Plain http has no `navigator.clipboard`. */
export async function copyText(value: string): Promise<void> {
  const clipboard: Clipboard | undefined = navigator.clipboard
  if (clipboard !== undefined) return await clipboard.writeText(value)
  const before = document.activeElement
  const field = document.createElement('textarea')
  field.value = value
  field.className = 'offscreen'
  // a dialog traps the focus
  const within = before?.closest('[role=dialog]') ?? document.body
  within.append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
  if (before instanceof HTMLElement) before.focus()
}
