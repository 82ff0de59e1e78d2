/** Asks for the password once more where something takes that; then it is done. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { answered, own } from '../api/client.ts'
import { reauthentication, useReauthentication } from '../api/reauthentication.ts'
import { useOwnSession } from '../api/session.ts'
import { useAction } from '../api/use-action.ts'
import { Dialog } from '../parts/dialog.tsx'
import { PasswordField, TextField } from '../parts/fields.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { text } from '../text/en.ts'

export function ReauthenticationDialog() {
  const isAsked = useReauthentication()
  return (
    <Dialog title={text.people.again.title} isOpen={isAsked} onClose={() => reauthentication.answer(false)}>
      {isAsked && <Proof />}
    </Dialog>
  )
}

function Proof() {
  const { user } = useOwnSession()
  const [given, setGiven] = useState({ password: '', code: '' })
  const prove = useAction(
    ({ password, code }: { password: string; code: string }) =>
      answered(own().POST('/console/api/reauthenticate', { body: { password, ...(code === '' ? {} : { code }) } })),
    () => reauthentication.answer(true),
  )
  const { people } = text
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        prove.run(given)
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
        {prove.problem !== undefined && <ProblemAlert problem={prove.problem} />}
        <Group justify="flex-end">
          <Button type="submit" loading={prove.isRunning}>
            {people.again.confirm}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
