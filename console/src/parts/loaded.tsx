/** A screen about one thing: waiting for it, why it could not be read, or what shows it. */
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { problemOf } from '../api/problem.ts'
import { ProblemAlert } from './problem-alert.tsx'
import { Screen } from './screen.tsx'
import { NotFound, Waiting } from './states.tsx'
import { usePlace } from './use-place.ts'

/** `title` is that of the screen until what it is about has come. */
export function Loaded<T>({
  title,
  query,
  children,
}: {
  title: string
  query: UseQueryResult<T>
  children: (data: T) => ReactNode
}) {
  const { mode } = usePlace()
  // while another one is asked for, the one before is not shown under its address
  if (query.data !== undefined && !query.isPlaceholderData) return children(query.data)
  const problem = query.isError ? problemOf(query.error) : undefined
  if (problem?.code === 'resource_missing') return <NotFound mode={mode} />
  return (
    <Screen title={title} mode={mode}>
      {problem === undefined ? <Waiting /> : <ProblemAlert problem={problem} onAgain={() => void query.refetch()} />}
    </Screen>
  )
}
