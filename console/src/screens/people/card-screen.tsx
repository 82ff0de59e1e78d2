/** The frame of screens outside of an account that ask for one thing. */
import { Paper } from '@mantine/core'
import type { ReactNode } from 'react'
import { Screen } from '../../parts/screen.tsx'

export function CardScreen({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main id="content" className="card-page">
      <Paper withBorder shadow="sm" p="lg">
        <Screen title={title}>{children}</Screen>
      </Paper>
    </main>
  )
}
