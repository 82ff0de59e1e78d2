/** The states that a screen or a part of it can be in beside showing what there is: waiting, nothing there, not allowed, not found. */
import { Loader, Stack, Text, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Mode } from '../paths.ts'
import { text } from '../text/en.ts'
import { Screen } from './screen.tsx'

export function Waiting() {
  return (
    <Stack aria-busy="true" align="center" p="xl">
      <Loader aria-hidden="true" />
      <VisuallyHidden>{text.list.loading}</VisuallyHidden>
    </Stack>
  )
}

/** `action` is what one would do about it. */
export function Empty({ why, action }: { why: string; action?: ReactNode }) {
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
