/** Confirms a new e-mail address with the link that was sent to it. */
import { Button, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { unwrap, own } from '../../api/client.ts'
import { refreshSession } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { paths } from '../../app/paths.ts'
import { ProblemAlert, SuccessNotice } from '../../components/feedback/alerts.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { text } from '../../text/en.ts'
import { CardScreen, clearToken, useToken } from './card-screen.tsx'

export function ConfirmEmailScreen() {
  const token = useToken()
  return (
    <CardScreen title={text.people.confirmEmail.title}>
      <Confirm key={token} token={token} />
    </CardScreen>
  )
}

function Confirm({ token }: { token: string }) {
  const [said, setSaid] = useState('')
  const words = text.people.confirmEmail
  const confirm = useApiMutation(
    () => unwrap(own().POST('/console/api/email_confirmations', { body: { token } })),
    ({ email }) => {
      clearToken()
      setSaid(words.done(email))
      return refreshSession()
    },
  )
  return (
    <Stack>
      <SuccessNotice text={said} />
      {said === '' && <Text size="sm">{token === '' ? words.noToken : words.why}</Text>}
      {confirm.problem !== undefined && <ProblemAlert problem={confirm.problem} />}
      {said === '' && token !== '' && (
        <Button loading={confirm.isRunning} onClick={() => confirm.run(undefined)}>
          {words.confirm}
        </Button>
      )}
      <PathLink to={paths.start} size="sm">
        {words.next}
      </PathLink>
    </Stack>
  )
}
