/** The frame of every screen: its title in the window and as the h1, which has the focus when the screen is new, and its actions beside. */
import { Group, Loader, Stack, Text, Title, VisuallyHidden } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef } from 'react'
import { Problem, problemOf } from '../../api/client.ts'
import { type Mode, useWorkspace } from '../../app/paths.ts'
import { text } from '../../text/en.ts'
import { ProblemAlert } from './alerts.tsx'

interface ScreenProps {
  readonly title: string
  /** Absent on screens outside of an account. */
  readonly mode?: Mode
  readonly actions?: ReactNode
  readonly children?: ReactNode
}

export function Screen({ title, mode, actions, children }: ScreenProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = [title, mode?.toUpperCase(), text.product].filter((part) => part !== undefined).join(' · ')
  }, [title, mode])
  // where something on the screen has taken the focus already it is left there
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

/** `title` is that of the screen until what it is about has come. */
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
  // while another one is asked for, the one before is not shown under its address
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

/** The states that a screen or a part of it can be in beside showing what there is: waiting, nothing there, not allowed, not found. */
export function LoadingIndicator() {
  return (
    <Stack aria-busy="true" align="center" p="xl">
      <Loader aria-hidden="true" />
      <VisuallyHidden>{text.list.loading}</VisuallyHidden>
    </Stack>
  )
}

/** `action` is what one would do about it. */
export function EmptyState({ why, action }: { why: string; action?: ReactNode }) {
  return (
    <Stack align="center" p="xl" gap="sm">
      <Text>{why}</Text>
      {action}
    </Stack>
  )
}

/** What stands at the address of a screen that the person's role does not show. */
export function NotAllowed({ mode }: { mode?: Mode }) {
  return (
    <Screen title={text.notAllowed.title} {...(mode === undefined ? {} : { mode })}>
      <Text>{text.notAllowed.why}</Text>
    </Screen>
  )
}

/** `mode` of the address, within an account. */
export function NotFound({ mode }: { mode?: Mode }) {
  return (
    <Screen title={text.notFound.title} {...(mode === undefined ? {} : { mode })}>
      <Text>{text.notFound.why}</Text>
    </Screen>
  )
}

/** What stands in place of a screen that failed, or whose session could not be asked for. */
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
