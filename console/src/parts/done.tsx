/** Says that something succeeded: a status that screen readers read out. It stands there before it has a text. */
import { Text } from '@mantine/core'
import type { ReactNode } from 'react'

export function Done({ text = '', children = text }: { text?: string; children?: ReactNode }) {
  const isEmpty = children === '' || children === null || children === false
  return (
    <Text
      component="output"
      display="block"
      size="sm"
      mb={isEmpty ? 0 : 'sm'}
      className={isEmpty ? '' : 'mark mark-good mark-text'}
      dir="auto"
    >
      {children}
    </Text>
  )
}
