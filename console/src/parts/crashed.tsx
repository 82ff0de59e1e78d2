/** What stands in place of a screen that failed, or whose session could not be asked for. */
import { Text } from '@mantine/core'
import { problemOf, Problem } from '../api/problem.ts'
import { text } from '../text/en.ts'
import { ProblemAlert } from './problem-alert.tsx'

export function Crashed({ error, reset }: { error: unknown; reset?: () => void }) {
  if (error instanceof Problem || !(error instanceof Error))
    return <ProblemAlert problem={problemOf(error)} onAgain={reset} />
  return (
    <div role="alert">
      <Text>{text.problem.crashed}</Text>
      <Text ff="monospace" size="sm">
        {error.message}
      </Text>
    </div>
  )
}
