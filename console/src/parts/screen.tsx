/** The frame of every screen: its title in the window and as the h1, which has the focus when the screen is new, and its actions beside. */
import { Group, Title } from '@mantine/core'
import { useEffect, useRef, type ReactNode } from 'react'
import type { Mode } from '../paths.ts'
import { text } from '../text/en.ts'

export interface ScreenProps {
  readonly title: string
  /** Absent on screens outside of an account. */
  readonly mode?: Mode
  readonly actions?: ReactNode
  readonly children?: ReactNode
}

export function Screen({ title, mode, actions, children }: ScreenProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = [title, mode?.toUpperCase(), text.product].filter((part) => part !== undefined).join(' · ')
  }, [title, mode])
  // where something on the screen has taken the focus already it is left there
  useEffect(() => {
    if (
      document.activeElement === null ||
      document.activeElement === document.body ||
      document.activeElement.closest('nav') !== null
    )
      heading.current?.focus()
  }, [])
  return (
    <>
      <Group justify="space-between" mb="md" gap="sm">
        <Title order={1} size="h2" ref={heading} tabIndex={-1} dir="auto">
          {title}
        </Title>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </>
  )
}
