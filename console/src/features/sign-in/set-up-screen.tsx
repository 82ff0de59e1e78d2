/** Creates the first owner with the link printed at start. */
import { Button, Stack, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { unwrap, own, type Problem } from '../../api/client.ts'
import { setSession } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { paths, pathTo } from '../../app/paths.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { PasswordField, TextField } from '../../components/form/fields.tsx'
import { text } from '../../text/en.ts'
import { CardScreen, clearToken, useToken } from './card-screen.tsx'

interface Owner {
  readonly name: string
  readonly email: string
  readonly password: string
}

export function SetUpScreen() {
  const navigate = useNavigate()
  const token = useToken()
  const action = useApiMutation(
    (body: Owner & { token: string }) => unwrap(own().POST('/console/api/setup', { body })),
    (session) => {
      clearToken()
      setSession(session)
      const [account] = session.accounts
      return navigate({
        to: (account === undefined ? paths.start : pathTo({ account: account.id, mode: 'test' })) as never,
        replace: true,
      })
    },
  )
  const { setUp } = text.people
  return (
    <CardScreen title={setUp.title}>
      {token === '' ? (
        <Text>{setUp.noToken}</Text>
      ) : (
        <OwnerForm
          problem={action.problem}
          isRunning={action.isRunning}
          onGiven={(owner) => action.run({ token, ...owner })}
        />
      )}
    </CardScreen>
  )
}

function OwnerForm({
  problem,
  isRunning,
  onGiven,
}: {
  problem: Problem | undefined
  isRunning: boolean
  onGiven: (owner: Owner) => void
}) {
  const [given, setGiven] = useState<Owner>({ name: '', email: '', password: '' })
  const { people } = text
  const field = (param: keyof Owner) => ({
    param,
    problem,
    value: given[param],
    onChange: (value: string) => setGiven({ ...given, [param]: value }),
  })
  const isAtField =
    problem !== undefined && ['name', 'email', 'password'].some((param) => problem.about(param) !== undefined)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onGiven(given)
      }}
    >
      <Stack>
        <Text size="sm">{people.setUp.why}</Text>
        <TextField label={people.name} {...field('name')} autoComplete="name" />
        <TextField label={people.email} type="email" {...field('email')} autoComplete="username" />
        <PasswordField
          label={people.password}
          {...field('password')}
          hint={people.passwordHint}
          autoComplete="new-password"
        />
        {problem !== undefined && !isAtField && <ProblemAlert problem={problem} />}
        <Button type="submit" loading={isRunning}>
          {people.setUp.create}
        </Button>
      </Stack>
    </form>
  )
}
