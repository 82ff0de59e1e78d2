/** Sign-in. */
import { Button, Stack } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { sessionEnd } from '../../api/session-events.ts'
import { setSession } from '../../api/session.ts'
import { ownPath, paths } from '../../app/paths.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { PasswordField, TextField } from '../../components/form/fields.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { text } from '../../text/en.ts'
import { CardScreen } from './card-screen.tsx'
import { CodeForm, SignInWith, useSignIn } from './sign-in-form.tsx'

export function SignInScreen() {
  const navigate = useNavigate()
  const { next } = useSearch({ strict: false }) as { next?: string }
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const signIn = useSignIn((session) => {
    setSession(session)
    sessionEnd.over()
    return navigate({ to: ownPath(next) as never, replace: true })
  })
  const { people } = text
  if (signIn.asksForCode)
    return (
      <CardScreen title={people.signIn.title}>
        <CodeForm problem={signIn.problem} isRunning={signIn.isRunning} onCode={signIn.runWithCode} />
      </CardScreen>
    )
  return (
    <CardScreen title={people.signIn.title}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          signIn.run({ email, password })
        }}
      >
        <Stack>
          <TextField label={people.email} type="email" value={email} onChange={setEmail} autoComplete="username" />
          <PasswordField
            label={people.password}
            value={password}
            onChange={setPassword}
            autoComplete="current-password"
          />
          {signIn.problem !== undefined && <ProblemAlert problem={signIn.problem} />}
          <Button type="submit" loading={signIn.isRunning}>
            {people.signIn.title}
          </Button>
          <SignInWith />
          <PathLink to={paths.reset} size="sm">
            {people.signIn.forgot}
          </PathLink>
        </Stack>
      </form>
    </CardScreen>
  )
}
