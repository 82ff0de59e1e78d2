/** Messages on a screen: a problem, a success, a conflicting change. */
import { Alert, Button, Code, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Problem } from '../../api/client.ts'
import { text } from '../../text/en.ts'

export function ProblemAlert({ problem, onRetry }: { problem: Problem; onRetry?: (() => void) | undefined }) {
  return (
    <Alert role="alert" color="red" variant="outline" title={text.problem.title} my="sm">
      <Text dir="auto" size="sm">
        {problem.message}
      </Text>
      <Group gap="xs" mt="xs">
        <Code>{text.problem.code(problem.code)}</Code>
        {problem.request_id !== undefined && <Code>{text.problem.request(problem.request_id)}</Code>}
        {onRetry !== undefined && (
          <Button size="xs" variant="default" onClick={onRetry}>
            {text.problem.again}
          </Button>
        )}
      </Group>
    </Alert>
  )
}

/** Must be rendered before its text appears, to be announced to screen readers. */
export function SuccessNotice({ text = '', children = text }: { text?: string; children?: ReactNode }) {
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

export function ConflictAlert({ when, onDiscard }: { when: boolean; onDiscard: () => void }) {
  if (!when) return null
  return (
    <Alert color="yellow" role="alert" mb="md">
      <Group justify="space-between">
        <Text size="sm">{text.outdated.why}</Text>
        <Button size="xs" variant="default" onClick={onDiscard}>
          {text.outdated.show}
        </Button>
      </Group>
    </Alert>
  )
}
