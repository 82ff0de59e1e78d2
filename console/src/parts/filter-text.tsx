/** A filter that is typed: applied when the person pauses, presses Enter or leaves the field. */
import { TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState } from 'react'

const pauseMs = 400

export interface FilterTextProps {
  readonly label: string
  readonly value: string
  readonly onApply: (value: string) => void
  readonly type?: 'text' | 'search'
  /** Applied with Enter or on leaving alone: what is half typed, such as a time, means something else. */
  readonly isWhole?: boolean
  readonly error?: string | undefined
}

export function FilterText({ label, value, onApply, type = 'text', isWhole = false, error }: FilterTextProps) {
  const [typed, setTyped] = useState(value)
  const [seen, setSeen] = useState(value)
  // changed from elsewhere, as by `Clear filters`
  if (value !== seen) {
    setSeen(value)
    if (value !== typed.trim()) setTyped(value)
  }
  const later = useDebouncedCallback(onApply, pauseMs)
  const now = () => {
    later.cancel()
    if (typed.trim() !== value) onApply(typed.trim())
  }
  return (
    <TextInput
      label={label}
      type={type}
      error={error}
      value={typed}
      dir="auto"
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        if (!isWhole) later(event.currentTarget.value.trim())
      }}
      onBlur={now}
      onKeyDown={(event) => event.key === 'Enter' && now()}
    />
  )
}
