/** The person's profile. */
import {
  Button,
  Group,
  type MantineColorScheme,
  Paper,
  Radio,
  SimpleGrid,
  Stack,
  useMantineColorScheme,
} from '@mantine/core'
import { useState } from 'react'
import { unwrap, own } from '../../api/client.ts'
import { refreshSession, useRequiredSession } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { PersonMenu } from '../../app/frame.tsx'
import { paths } from '../../app/paths.ts'
import { SuccessNotice, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Screen } from '../../components/feedback/screen.tsx'
import { PasswordField, TextField } from '../../components/form/fields.tsx'
import { Region } from '../../components/format/facts.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { text } from '../../text/en.ts'
import { Identities } from './identities.tsx'
import { Sessions } from './sessions.tsx'
import { TwoFactor } from './two-factor.tsx'

export function ProfileScreen() {
  const words = text.profile
  return (
    <>
      <header className="frame-top">
        <PathLink to={paths.start}>{words.back}</PathLink>
        <div className="frame-push" />
        <PersonMenu />
      </header>
      <main id="content" className="page" tabIndex={-1}>
        <Screen title={words.title} actions={<ApiButton request={{ method: 'GET', path: '/console/api/me' }} />}>
          <Stack>
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <You />
              <Password />
              <TwoFactor />
              <Identities />
              <Paper withBorder p="md">
                <Schemes />
              </Paper>
            </SimpleGrid>
            <Sessions />
          </Stack>
        </Screen>
      </main>
    </>
  )
}

function Schemes() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { scheme, schemes } = text.profile
  return (
    <Radio.Group label={scheme} value={colorScheme} onChange={(value) => setColorScheme(value as MantineColorScheme)}>
      <Group>
        {(['auto', 'light', 'dark'] as const).map((value) => (
          <Radio key={value} value={value} label={schemes[value]} size="md" />
        ))}
      </Group>
    </Radio.Group>
  )
}

interface Changes {
  readonly name?: string
  readonly email?: string
  readonly current_password?: string
  readonly new_password?: string
}

function useChange(done: string, after: () => void) {
  const [said, setSaid] = useState('')
  const change = useApiMutation(
    (body: Changes) => unwrap(own().PATCH('/console/api/me', { body })),
    async () => {
      setSaid(done)
      after()
      await refreshSession()
    },
  )
  return { ...change, said }
}

export function You() {
  const { user } = useRequiredSession()
  const [given, setGiven] = useState({ name: user.name, email: user.email, current_password: '' })
  const words = text.profile
  const change = useChange(words.saved, () => setGiven((now) => ({ ...now, current_password: '' })))
  const changesEmail = given.email !== user.email
  return (
    <Region title={words.you}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          change.run({
            name: given.name,
            ...(changesEmail ? { email: given.email, current_password: given.current_password } : {}),
          })
        }}
      >
        <Stack gap="sm">
          <SuccessNotice text={change.said} />
          <TextField
            label={text.people.name}
            value={given.name}
            onChange={(name) => setGiven({ ...given, name })}
            param="name"
            problem={change.problem}
            autoComplete="name"
          />
          <TextField
            label={text.people.email}
            type="email"
            value={given.email}
            onChange={(email) => setGiven({ ...given, email })}
            param="email"
            problem={change.problem}
            autoComplete="email"
          />
          {changesEmail && (
            <PasswordField
              label={text.people.password}
              value={given.current_password}
              onChange={(current_password) => setGiven({ ...given, current_password })}
              param="current_password"
              problem={change.problem}
              autoComplete="current-password"
            />
          )}
          {change.problem !== undefined && <ProblemAlert problem={change.problem} />}
          <Group>
            <Button type="submit" variant="default" loading={change.isRunning}>
              {words.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Region>
  )
}

const none = { current_password: '', new_password: '' }

export function Password() {
  const { user } = useRequiredSession()
  const [given, setGiven] = useState(none)
  const words = text.profile
  const change = useChange(words.changed, () => setGiven(none))
  const field = (param: keyof typeof none) => ({
    param,
    problem: change.problem,
    value: given[param],
    onChange: (value: string) => setGiven({ ...given, [param]: value }),
  })
  return (
    <Region title={words.passwordTitle}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          change.run(given)
        }}
      >
        <Stack gap="sm">
          <SuccessNotice text={change.said} />
          {/* for password managers */}
          <input type="hidden" autoComplete="username" value={user.email} readOnly />
          <PasswordField label={words.current} {...field('current_password')} autoComplete="current-password" />
          <PasswordField
            label={words.next}
            {...field('new_password')}
            hint={text.people.passwordHint}
            autoComplete="new-password"
          />
          {change.problem !== undefined && change.problem.param === undefined && (
            <ProblemAlert problem={change.problem} />
          )}
          <Group>
            <Button type="submit" variant="default" loading={change.isRunning}>
              {words.change}
            </Button>
          </Group>
        </Stack>
      </form>
    </Region>
  )
}
