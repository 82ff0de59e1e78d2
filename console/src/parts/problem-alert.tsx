/** A problem as an alert: the sentence, the code, the request, and a button that tries again. */
import { Alert, Button, Code, Group, Text } from '@mantine/core'
import type { Problem } from '../api/problem.ts'
import { text } from '../text/en.ts'

export function ProblemAlert({ problem, onAgain }: { problem: Problem; onAgain?: (() => void) | undefined }) {
  return (
    <Alert role="alert" color="red" variant="outline" title={text.problem.title} my="sm">
      <Text dir="auto" size="sm">
        {problem.message}
      </Text>
      <Group gap="xs" mt="xs">
        <Code>{text.problem.code(problem.code)}</Code>
        {problem.request_id !== undefined && <Code>{text.problem.request(problem.request_id)}</Code>}
        {onAgain !== undefined && (
          <Button size="xs" variant="default" onClick={onAgain}>
            {text.problem.again}
          </Button>
        )}
      </Group>
    </Alert>
  )
}
