/** Requests a password reset link, or sets the new password with one. */
import { Button, Stack, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { unwrap, own } from '../../api/client.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { paths } from '../../app/paths.ts'
import { SuccessNotice } from '../../components/feedback/alerts.tsx'
import { FormProblem, PasswordField, TextField } from '../../components/form/fields.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { text } from '../../text/en.ts'
import { CardScreen, clearToken, useToken } from './card-screen.tsx'

export function ResetScreen() {
  const token = useToken()
  return (
    <CardScreen title={text.people.reset.title}>{token === '' ? <RequestLink /> : <Choose token={token} />}</CardScreen>
  )
}

/** Does not reveal whether the address is known. */
function RequestLink() {
  const [email, setEmail] = useState('')
  const [said, setSaid] = useState('')
  const words = text.people.reset
  const request = useApiMutation(
    (to: string) => unwrap(own().POST('/console/api/password_resets', { body: { email: to } })),
    () => setSaid(words.asked),
  )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        request.run(email)
      }}
    >
      <Stack>
        <Text size="sm">{words.why}</Text>
        <SuccessNotice text={said} />
        <TextField
          label={text.people.email}
          type="email"
          value={email}
          onChange={setEmail}
          param="email"
          problem={request.problem}
          autoComplete="username"
        />
        <FormProblem problem={request.problem} fields={['email']} />
        <Button type="submit" loading={request.isRunning}>
          {words.send}
        </Button>
        <PathLink to={paths.signIn} size="sm">
          {text.people.signIn.title}
        </PathLink>
      </Stack>
    </form>
  )
}

function Choose({ token }: { token: string }) {
  const navigate = useNavigate()
  const [password, setPassword] = useState('')
  const words = text.people.reset
  const choose = useApiMutation(
    (next: string) => unwrap(own().POST('/console/api/password_resets/confirm', { body: { token, password: next } })),
    () => {
      clearToken()
      return navigate({ to: paths.signIn as never, replace: true })
    },
  )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        choose.run(password)
      }}
    >
      <Stack>
        <Text size="sm">{words.ends}</Text>
        <PasswordField
          label={words.next}
          value={password}
          onChange={setPassword}
          hint={text.people.passwordHint}
          param="password"
          problem={choose.problem}
          autoComplete="new-password"
        />
        <FormProblem problem={choose.problem} fields={['password']} />
        <Button type="submit" loading={choose.isRunning}>
          {words.save}
        </Button>
      </Stack>
    </form>
  )
}
