/** A link to an address of the console, from `paths.ts`. */
import { Anchor, type AnchorProps } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Query } from '../query.ts'

export function PathLink({
  to,
  search,
  children,
  ...props
}: AnchorProps & { to: string; search?: Query; children: ReactNode }) {
  return (
    <Anchor component={Link} to={to} search={search as never} underline="always" {...props}>
      {children}
    </Anchor>
  )
}
