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
import { unwrap, own, type Problem } from '../../api/client.ts'
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
import { PendingEmail } from './pending-email.tsx'
import { Sessions } from './sessions.tsx'
import { TwoFactor } from './two-factor.tsx'

export function ProfileScreen() {
  const { user } = useRequiredSession()
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
              <You key={user.email} />
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
  readonly code?: string
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
  return { ...change, said, setSaid }
}

const givenOnly = (fields: Changes): Changes =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))

/** Beside the current password, where a second factor is on. */
function FactorField(props: { value: string; onChange: (code: string) => void; problem: Problem | undefined }) {
  const { user } = useRequiredSession()
  const { signIn } = text.people
  return user.two_factor ? (
    <TextField
      label={signIn.code}
      hint={signIn.codeWhy}
      value={props.value}
      onChange={(code) => props.onChange(code.trim())}
      param="code"
      problem={props.problem}
      autoComplete="one-time-code"
    />
  ) : null
}

interface GivenOfYou {
  readonly name: string
  readonly email: string
  readonly current_password: string
  readonly code: string
}

function Proof(props: { given: GivenOfYou; onChange: (given: GivenOfYou) => void; problem: Problem | undefined }) {
  const { given, onChange, problem } = props
  return (
    <>
      <PasswordField
        label={text.people.password}
        value={given.current_password}
        onChange={(current_password) => onChange({ ...given, current_password })}
        param="current_password"
        problem={problem}
        autoComplete="current-password"
      />
      <FactorField value={given.code} onChange={(code) => onChange({ ...given, code })} problem={problem} />
    </>
  )
}

export function You() {
  const { user } = useRequiredSession()
  const [given, setGiven] = useState<GivenOfYou>({ name: user.name, email: user.email, current_password: '', code: '' })
  const words = text.profile
  const change = useChange(words.saved, () =>
    setGiven(({ name }) => ({ name, email: user.email, current_password: '', code: '' })),
  )
  const changesEmail = given.email !== user.email
  return (
    <Region title={words.you}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          change.run({
            name: given.name,
            ...(changesEmail
              ? { email: given.email, ...givenOnly({ current_password: given.current_password, code: given.code }) }
              : {}),
          })
        }}
      >
        <Stack gap="sm">
          <SuccessNotice text={change.said} />
          {user.pending_email !== null && <PendingEmail address={user.pending_email} onDone={change.setSaid} />}
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
          {changesEmail && <Proof given={given} onChange={setGiven} problem={change.problem} />}
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

const none = { current_password: '', new_password: '', code: '' }

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
          const { code, ...passwords } = given
          change.run({ ...passwords, ...givenOnly({ code }) })
        }}
      >
        <Stack gap="sm">
          <SuccessNotice text={change.said} />
          {/* for password managers */}
          <input type="hidden" autoComplete="username" value={user.email} readOnly />
          <PasswordField label={words.current} {...field('current_password')} autoComplete="current-password" />
          <FactorField {...field('code')} />
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
