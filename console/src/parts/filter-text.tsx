/** A filter that is typed: applied when the person pauses, presses Enter or leaves the field. */
import { TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState } from 'react'

const pauseMs = 400

export interface FilterTextProps {
  readonly label: string
  readonly value: string
  readonly onApply: (value: string) => void
}

/** Give it a `key` that changes when its value is changed from elsewhere. */
export function FilterText({ label, value, onApply }: FilterTextProps) {
  const [typed, setTyped] = useState(value)
  const later = useDebouncedCallback(onApply, pauseMs)
  const now = () => {
    later.cancel()
    if (typed.trim() !== value) onApply(typed.trim())
  }
  return (
    <TextInput
      label={label}
      value={typed}
      dir="auto"
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        later(event.currentTarget.value.trim())
      }}
      onBlur={now}
      onKeyDown={(event) => event.key === 'Enter' && now()}
    />
  )
}
