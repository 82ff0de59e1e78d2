/** Several of the API's values, each a box that is labelled as the value. */
import { Checkbox, SimpleGrid } from '@mantine/core'
import type { ReactNode } from 'react'

export interface CheckGroupProps {
  readonly label: string
  readonly choices: readonly string[]
  readonly chosen: readonly string[]
  readonly onChange: (chosen: string[]) => void
  readonly hint?: string | undefined
  readonly error?: string | undefined
  /** Above the boxes. */
  readonly children?: ReactNode
}

export function CheckGroup({ label, choices, chosen, onChange, hint, error, children }: CheckGroupProps) {
  return (
    <Checkbox.Group label={label} description={hint} error={error} value={[...chosen]} onChange={onChange}>
      {children}
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" my="xs">
        {choices.map((value) => (
          <Checkbox key={value} value={value} label={value} />
        ))}
      </SimpleGrid>
    </Checkbox.Group>
  )
}
