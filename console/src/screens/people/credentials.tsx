/** The fields of signing in: the password, and where the server asks for one a code of the second factor. */
import { Button, Stack } from '@mantine/core'
import { useState } from 'react'
import type { Problem } from '../../api/problem.ts'
import { PasswordField, TextField } from '../../parts/fields.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { text } from '../../text/en.ts'

/** What a person gives to sign in. */
export interface Credentials {
  readonly email: string
  readonly password: string
  readonly code?: string
}

/** Asks for the code that `mfa_required` wants, of the app or a recovery code. */
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

/** The password alone, for whoever is known: to sign in again. */
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
