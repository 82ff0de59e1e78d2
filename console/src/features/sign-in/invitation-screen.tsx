/** Accepts an invitation, as a new or an existing user. */
import { Button, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { unwrap, own, problemOf } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { setSession } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { paths } from '../../app/paths.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { LoadingIndicator } from '../../components/feedback/screen.tsx'
import { FormProblem, PasswordField, TextField } from '../../components/form/fields.tsx'
import { humanize, text } from '../../text/en.ts'
import { CardScreen, clearToken, useToken } from './card-screen.tsx'

type Invitation = components['schemas']['InvitationPreview']

export function InvitationScreen() {
  const token = useToken()
  const words = text.people.invitation
  const found = useQuery({
    queryKey: ['invitations.preview', token],
    queryFn: () => unwrap(own().POST('/console/api/invitations/preview', { body: { token } })),
    enabled: token !== '',
    refetchInterval: false,
  })
  if (token === '')
    return (
      <CardScreen title={words.unknown}>
        <Text>{words.noToken}</Text>
      </CardScreen>
    )
  if (found.data === undefined)
    return (
      <CardScreen title={words.unknown}>
        {found.isError ? <ProblemAlert problem={problemOf(found.error)} /> : <LoadingIndicator />}
      </CardScreen>
    )
  return (
    <CardScreen title={words.title(found.data.account_name)}>
      <Join key={token} token={token} invitation={found.data} />
    </CardScreen>
  )
}

interface Given {
  readonly name: string
  readonly password: string
  readonly code: string
}

function Join({ token, invitation }: { token: string; invitation: Invitation }) {
  const navigate = useNavigate()
  const [given, setGiven] = useState<Given>({ name: '', password: '', code: '' })
  const { people } = text
  const accept = useApiMutation(
    ({ name, password, code }: Given) =>
      unwrap(
        own().POST('/console/api/invitations/accept', {
          body: { token, password, ...(name === '' ? {} : { name }), ...(code === '' ? {} : { code }) },
        }),
      ),
    (session) => {
      clearToken()
      setSession(session)
      return navigate({ to: paths.start as never, replace: true })
    },
  )
  const field = (param: keyof Given) => ({
    param,
    problem: accept.problem,
    value: given[param],
    onChange: (value: string) => setGiven({ ...given, [param]: value }),
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        accept.run(given)
      }}
    >
      <Stack>
        <Text size="sm">{people.invitation.why(invitation.email, humanize(invitation.role))}</Text>
        {!invitation.has_user && <TextField label={people.name} {...field('name')} autoComplete="name" />}
        <PasswordField
          label={people.password}
          {...field('password')}
          hint={invitation.has_user ? people.invitation.yours : people.invitation.eitherPassword}
          autoComplete={invitation.has_user ? 'current-password' : 'new-password'}
        />
        {accept.problem?.code === 'mfa_required' && (
          <TextField label={people.signIn.code} {...field('code')} autoComplete="one-time-code" />
        )}
        <FormProblem problem={accept.problem} fields={['name', 'password', 'code']} />
        <Button type="submit" loading={accept.isRunning}>
          {people.invitation.accept}
        </Button>
      </Stack>
    </form>
  )
}
