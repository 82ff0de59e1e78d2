/** Copies a text, and says so. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { copyText } from './copy-text.ts'
import { text } from '../text/en.ts'

export function CopyButton({ value }: { value: string }) {
  const [copied, setCopied] = useState<string>()
  return (
    <Button variant="default" onClick={() => void copyText(value).then(() => setCopied(value))}>
      {copied === value ? text.api.copied : text.api.copy}
    </Button>
  )
}
