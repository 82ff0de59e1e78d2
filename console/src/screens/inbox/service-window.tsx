/** How long anything may be sent, where the channel asks for a window. */
import { Text } from '@mantine/core'
import { useId } from 'react'
import { text } from '../../text/en.ts'

/** `minutes`: as `useWindow` tells them. */
export function ServiceWindow({ minutes }: { minutes: number | null }) {
  const label = useId()
  if (minutes === null) return null
  return (
    <Text size="sm" component="div">
      <span id={label}>{text.inbox.window}</span>{' '}
      <Text component="span" role="timer" fw={600} aria-labelledby={label}>
        {wordsOf(minutes)}
      </Text>
    </Text>
  )
}

function wordsOf(minutes: number): string {
  const { closed, underAMinute, left } = text.inbox
  if (minutes < 0) return closed
  return minutes === 0 ? underAMinute : left(Math.floor(minutes / 60), minutes % 60)
}
