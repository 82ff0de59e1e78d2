/** Dialogs to sign in again and to confirm the password. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useLocation } from '@tanstack/react-router'
import { useState } from 'react'
import { unwrap, own } from '../api/client.ts'
import { reauthentication, sessionEnd, useReauthentication, useSessionEnd } from '../api/session-events.ts'
import { replaceSession, setSession, useRequiredSession, useSession } from '../api/session.ts'
import { useApiMutation } from '../api/use-action.ts'
import { queryClient } from '../api/use-api-query.ts'
import { ProblemAlert } from '../components/feedback/alerts.tsx'
import { Dialog } from '../components/feedback/dialog.tsx'
import { PasswordField, TextField } from '../components/form/fields.tsx'
import { CodeForm, PasswordForm, SignInWith, useSignIn } from '../features/sign-in/sign-in-form.tsx'
import { text } from '../text/en.ts'

export function SessionEndDialog() {
  const isOver = useSessionEnd()
  const { data: before } = useSession()
  const { pathname, searchStr } = useLocation()
  const signIn = useSignIn((session) => {
    if (session.user.id === before?.user.id) replaceSession(session)
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

export function ReauthenticationDialog() {
  const isRequested = useReauthentication()
  return (
    <Dialog title={text.people.again.title} isOpen={isRequested} onClose={() => reauthentication.answer(false)}>
      {isRequested && <PasswordPrompt />}
    </Dialog>
  )
}

function PasswordPrompt() {
  const { user } = useRequiredSession()
  const [given, setGiven] = useState({ password: '', code: '' })
  const confirm = useApiMutation(
    ({ password, code }: { password: string; code: string }) =>
      unwrap(
        own().POST('/console/api/reauthenticate', {
          // a person without a password gives the code alone
          body: { ...(password === '' && code !== '' ? {} : { password }), ...(code === '' ? {} : { code }) },
        }),
      ),
    () => reauthentication.answer(true),
  )
  const { people } = text
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        confirm.run(given)
      }}
    >
      <Stack>
        <Text size="sm">{people.again.why}</Text>
        <PasswordField
          label={people.password}
          value={given.password}
          onChange={(password) => setGiven({ ...given, password })}
          autoComplete="current-password"
        />
        {user.two_factor && (
          <TextField
            label={people.signIn.code}
            hint={people.signIn.codeWhy}
            value={given.code}
            onChange={(code) => setGiven({ ...given, code: code.trim() })}
            autoComplete="one-time-code"
          />
        )}
        {confirm.problem !== undefined && <ProblemAlert problem={confirm.problem} />}
        <Group justify="flex-end">
          <Button type="submit" loading={confirm.isRunning}>
            {people.again.confirm}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
