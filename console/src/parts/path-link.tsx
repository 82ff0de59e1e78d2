/** A link to an address of the console, from `paths.ts`. */
import { Anchor, type AnchorProps } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

export function PathLink({ to, children, ...props }: AnchorProps & { to: string; children: ReactNode }) {
  return (
    <Anchor component={Link} to={to} underline="always" {...props}>
      {children}
    </Anchor>
  )
}
