/** Sign-in forms: password, second factor, single sign-on. */
import { Alert, Anchor, Button, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { unwrap, own, type Problem } from '../../api/client.ts'
import type { Session } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { basePath, ownPath } from '../../app/paths.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { PasswordField, TextField } from '../../components/form/fields.tsx'
import { text } from '../../text/en.ts'

export interface Credentials {
  readonly email: string
  readonly password: string
  readonly code?: string
}

export function CodeForm({
  problem,
  isRunning,
  onCode,
}: {
  problem: Problem | undefined
  isRunning: boolean
  onCode: (code: string) => void
}) {
  const [code, setCode] = useState('')
  const [isRecovery, setRecovery] = useState(false)
  const { signIn } = text.people
  const refused = problem?.code === 'mfa_required' ? undefined : problem
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onCode(code.trim())
      }}
    >
      <Stack>
        <TextField
          label={isRecovery ? signIn.recovery : signIn.code}
          hint={isRecovery ? undefined : signIn.codeWhy}
          value={code}
          onChange={setCode}
          autoComplete="one-time-code"
        />
        {refused !== undefined && <ProblemAlert problem={refused} />}
        <Button type="submit" loading={isRunning}>
          {signIn.verify}
        </Button>
        {!isRecovery && (
          <Button variant="subtle" onClick={() => setRecovery(true)}>
            {signIn.recoveryInstead}
          </Button>
        )}
      </Stack>
    </form>
  )
}

export function PasswordForm(props: {
  label: string
  problem: Problem | undefined
  isRunning: boolean
  onPassword: (password: string) => void
}) {
  const [password, setPassword] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        props.onPassword(password)
      }}
    >
      <Stack>
        <PasswordField
          label={text.people.password}
          value={password}
          onChange={setPassword}
          autoComplete="current-password"
        />
        {props.problem !== undefined && <ProblemAlert problem={props.problem} />}
        <Button type="submit" loading={props.isRunning}>
          {props.label}
        </Button>
      </Stack>
    </form>
  )
}

/** Returns to `to`, or to the page that required sign-in. */
export function SignInWith({ to }: { to?: string }) {
  const { next = to, error } = useSearch({ strict: false }) as { next?: string; error?: string }
  const { data } = useQuery({ queryKey: ['setup.retrieve'], queryFn: () => unwrap(own().GET('/console/api/setup')) })
  const words = text.people.signIn
  const failures: Readonly<Record<string, string>> = words.withFailed
  if (data === undefined || data.oauth === null) return null
  return (
    <Stack gap="sm">
      {error !== undefined && (
        <Alert role="alert" color="red" variant="outline" title={words.withFailed.title}>
          <Text size="sm">{failures[error] ?? failures['oauth_pending_expired']}</Text>
        </Alert>
      )}
      <Anchor size="sm" href={`${basePath}/api/oauth/start?next=${encodeURIComponent(basePath + ownPath(next))}`}>
        {words.with(data.oauth.name)}
      </Anchor>
    </Stack>
  )
}

interface SignIn {
  readonly run: (credentials: Credentials) => void
  readonly runWithCode: (code: string) => void
  readonly asksForCode: boolean
  readonly isRunning: boolean
  readonly problem: Problem | undefined
}

export function useSignIn(onDone: (session: Session) => unknown): SignIn {
  const [given, setGiven] = useState<Credentials>()
  const [asksForCode, setAsks] = useState(false)
  const action = useApiMutation(
    async (credentials: Credentials) => {
      setGiven(credentials)
      try {
        return await unwrap(own().POST('/console/api/session', { body: credentials }))
      } catch (error) {
        if ((error as Problem).code === 'mfa_required') setAsks(true)
        throw error
      }
    },
    (session) => {
      setGiven(undefined)
      setAsks(false)
      return onDone(session)
    },
  )
  return {
    run: action.run,
    runWithCode: (code) => given !== undefined && action.run({ ...given, code }),
    asksForCode,
    isRunning: action.isRunning,
    problem: action.problem,
  }
}
