/** The settings of the account. */
import { Button, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { unwrap, own, type Problem } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { refreshSession } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useApiQuery, useInvalidate } from '../../api/use-api-query.ts'
import { useWorkspace } from '../../app/paths.ts'
import { SuccessNotice } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { QueryScreen, Screen } from '../../components/feedback/screen.tsx'
import { ChoiceField, FormProblem, TextField } from '../../components/form/fields.tsx'
import { useDraft } from '../../components/form/use-draft.ts'
import { parseDollars } from '../../components/format/intl.tsx'
import { text } from '../../text/en.ts'

type Account = components['schemas']['AccountSettings']

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')]

export function SettingsScreen() {
  const workspace = useWorkspace()
  const account = useApiQuery(workspace, ['account.retrieve'], () => own(workspace).GET('/console/api/account'))
  return (
    <QueryScreen title={text.screens.settings} query={account}>
      {(found) => <SettingsForm key={found.id} account={found} />}
    </QueryScreen>
  )
}

interface Given {
  readonly name: string
  readonly timezone: string
  readonly low: string
}

const givenOf = ({ name, timezone, low_balance_micros }: Account): Given => ({
  name,
  timezone,
  low: String(low_balance_micros / 1_000_000),
})

function changesOf({ name, timezone, low }: Given) {
  const low_balance_micros = parseDollars(low)
  return low_balance_micros === undefined ? undefined : { name, timezone, low_balance_micros }
}

function SettingsForm({ account }: { account: Account }) {
  const workspace = useWorkspace()
  const invalidate = useInvalidate(workspace)
  const [said, setSaid] = useState('')
  const words = text.settings
  const [given, change, discard] = useDraft(workspace, 'settings', givenOf(account))
  const save = useApiMutation(
    (body: NonNullable<ReturnType<typeof changesOf>>) => unwrap(own(workspace).PATCH('/console/api/account', { body })),
    async () => {
      discard()
      setSaid(words.saved)
      await invalidate('account.')
      await refreshSession()
    },
  )
  return (
    <Screen
      title={text.screens.settings}
      mode={workspace.mode}
      actions={<ApiButton request={{ method: 'GET', path: '/console/api/account', workspace }} />}
    >
      <SuccessNotice text={said} />
      <Fields given={given} onChange={change} problem={save.problem} isRunning={save.isRunning} onGiven={save.run} />
    </Screen>
  )
}

interface FieldsProps {
  readonly given: Given
  readonly onChange: (given: Given) => void
  readonly problem: Problem | undefined
  readonly isRunning: boolean
  readonly onGiven: (changes: NonNullable<ReturnType<typeof changesOf>>) => void
}

function Fields({ given, onChange, problem, isRunning, onGiven }: FieldsProps) {
  const words = text.settings
  const [error, setError] = useState<string>()
  const field = (name: keyof Given, param: string) => ({
    param,
    problem,
    value: given[name],
    onChange: (value: string) => onChange({ ...given, [name]: value }),
  })
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        const changes = changesOf(given)
        setError(changes === undefined ? words.lowWrong : undefined)
        if (changes !== undefined) onGiven(changes)
      }}
    >
      <Stack>
        <TextField label={words.name} {...field('name', 'name')} />
        <ChoiceField
          label={words.zone}
          hint={words.zoneWhy}
          choices={zones.includes(given.timezone) ? zones : [given.timezone, ...zones]}
          {...field('timezone', 'timezone')}
        />
        <TextField label={words.low} hint={words.lowWhy} error={error} {...field('low', 'low_balance_micros')} />
        <FormProblem problem={problem} fields={['name', 'timezone', 'low_balance_micros']} />
        <Group>
          <Button type="submit" loading={isRunning}>
            {words.save}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
