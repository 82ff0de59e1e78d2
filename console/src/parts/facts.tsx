/** Pairs of a name and a value, and a region with a heading of its own. */
import { Paper, Title } from '@mantine/core'
import { Fragment, useId, type ReactNode } from 'react'

/** Those whose value is null are left out. */
export function Facts({ of }: { of: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {of
        .filter(([, value]) => value !== null)
        .map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd dir="auto">{value}</dd>
          </Fragment>
        ))}
    </dl>
  )
}

export function Region({ title, children }: { title: string; children: ReactNode }) {
  const heading = useId()
  return (
    <Paper component="section" aria-labelledby={heading} withBorder p="md">
      <Title order={2} size="h4" id={heading} mb="xs">
        {title}
      </Title>
      {children}
    </Paper>
  )
}
