/** Where the session ends under a person's hands: signs them in again over the screen, and what they have entered stays. */
import { Stack, Text } from '@mantine/core'
import { useLocation } from '@tanstack/react-router'
import { queryClient } from '../api/query-client.ts'
import { renewSession, setSession, useSession } from '../api/session.ts'
import { sessionEnd, useSessionEnd } from '../api/session-end.ts'
import { Dialog } from '../parts/dialog.tsx'
import { CodeForm, PasswordForm } from '../screens/people/credentials.tsx'
import { SignInWith } from '../screens/people/sign-in-with.tsx'
import { useSignIn } from '../screens/people/use-sign-in.ts'
import { text } from '../text/en.ts'

export function SessionEndDialog() {
  const isOver = useSessionEnd()
  const { data: before } = useSession()
  const { pathname, searchStr } = useLocation()
  const signIn = useSignIn((session) => {
    if (session.user.id === before?.user.id) renewSession(session)
    else setSession(session)
    sessionEnd.over()
    return queryClient.invalidateQueries()
  })
  const { people } = text
  return (
    <Dialog title={people.signIn.again} isOpen={isOver}>
      <Stack>
        <Text size="sm">{people.signIn.againWhy}</Text>
        {signIn.asksForCode ? (
          <CodeForm problem={signIn.problem} isRunning={signIn.isRunning} onCode={signIn.runWithCode} />
        ) : (
          <PasswordForm
            label={people.signIn.title}
            problem={signIn.problem}
            isRunning={signIn.isRunning}
            onPassword={(password) => signIn.run({ email: before?.user.email ?? '', password })}
          />
        )}
        <SignInWith to={pathname + searchStr} />
      </Stack>
    </Dialog>
  )
}
