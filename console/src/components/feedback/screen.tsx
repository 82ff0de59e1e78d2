/** The page of a screen: title, h1, actions, and loading, empty and error states. */
import { Group, Loader, Stack, Text, Title, VisuallyHidden } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef } from 'react'
import { Problem, problemOf } from '../../api/client.ts'
import { type Mode, useWorkspace } from '../../app/paths.ts'
import { text } from '../../text/en.ts'
import { ProblemAlert } from './alerts.tsx'

interface ScreenProps {
  readonly title: string
  readonly mode?: Mode
  readonly actions?: ReactNode
  readonly children?: ReactNode
}

export function Screen({ title, mode, actions, children }: ScreenProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = [title, mode?.toUpperCase(), text.product].filter((part) => part !== undefined).join(' · ')
  }, [title, mode])
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

export function QueryScreen<T>({
  title,
  query,
  children,
}: {
  title: string
  query: UseQueryResult<T>
  children: (data: T) => ReactNode
}) {
  const { mode } = useWorkspace()
  // never the previous object under a new URL
  if (query.data !== undefined && !query.isPlaceholderData) return children(query.data)
  const problem = query.isError ? problemOf(query.error) : undefined
  if (problem?.code === 'resource_missing') return <NotFound mode={mode} />
  return (
    <Screen title={title} mode={mode}>
      {problem === undefined ? (
        <LoadingIndicator />
      ) : (
        <ProblemAlert problem={problem} onRetry={() => void query.refetch()} />
      )}
    </Screen>
  )
}

export function LoadingIndicator() {
  return (
    <Stack aria-busy="true" align="center" p="xl">
      <Loader aria-hidden="true" />
      <VisuallyHidden>{text.list.loading}</VisuallyHidden>
    </Stack>
  )
}

export function EmptyState({ why, action }: { why: string; action?: ReactNode }) {
  return (
    <Stack align="center" p="xl" gap="sm">
      <Text>{why}</Text>
      {action}
    </Stack>
  )
}

export function NotAllowed({ mode }: { mode?: Mode }) {
  return (
    <Screen title={text.notAllowed.title} {...(mode === undefined ? {} : { mode })}>
      <Text>{text.notAllowed.why}</Text>
    </Screen>
  )
}

export function NotFound({ mode }: { mode?: Mode }) {
  return (
    <Screen title={text.notFound.title} {...(mode === undefined ? {} : { mode })}>
      <Text>{text.notFound.why}</Text>
    </Screen>
  )
}

export function ErrorScreen({ error, reset }: { error: unknown; reset?: () => void }) {
  if (error instanceof Problem || !(error instanceof Error))
    return <ProblemAlert problem={problemOf(error)} onRetry={reset} />
  return (
    <div role="alert">
      <Text>{text.problem.crashed}</Text>
      <Text ff="monospace" size="sm">
        {error.message}
      </Text>
    </div>
  )
}
