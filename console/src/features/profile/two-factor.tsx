/** Set-up of two-factor authentication. */
import { Button, Code, Group, List, Stack, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { renderSVG } from 'uqr'
import { unwrap, own } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { refreshSession, useRequiredSession } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { SuccessNotice, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { CopyButton } from '../../components/feedback/copy-button.tsx'
import { Dialog } from '../../components/feedback/dialog.tsx'
import { TextField } from '../../components/form/fields.tsx'
import { Region } from '../../components/format/facts.tsx'
import { text } from '../../text/en.ts'

type SecondFactor = components['schemas']['SecondFactor']

export function TwoFactor() {
  const { user } = useRequiredSession()
  const [factor, setFactor] = useState<SecondFactor>()
  const [codes, setCodes] = useState<readonly string[]>()
  const [said, setSaid] = useState('')
  const begin = useApiMutation(() => unwrap(own().POST('/console/api/two_factor')), setFactor)
  const end = useApiMutation(
    () => unwrap(own().DELETE('/console/api/two_factor')),
    async () => {
      setSaid(text.profile.turnedOff)
      await refreshSession()
    },
  )
  const words = text.profile
  const problem = begin.problem ?? end.problem
  return (
    <Region title={words.factorTitle}>
      <Stack gap="sm">
        <SuccessNotice text={said} />
        <Text size="sm">{user.two_factor ? words.factorOn : words.factorOff}</Text>
        {problem !== undefined && <ProblemAlert problem={problem} />}
        <Group>
          {user.two_factor ? (
            <Button variant="default" loading={end.isRunning} onClick={() => end.run(undefined)}>
              {words.turnOff}
            </Button>
          ) : (
            <Button variant="default" loading={begin.isRunning} onClick={() => begin.run(undefined)}>
              {words.setUp}
            </Button>
          )}
        </Group>
      </Stack>
      {factor !== undefined && (
        <Confirm
          factor={factor}
          onClose={() => setFactor(undefined)}
          onConfirmed={(given) => {
            setFactor(undefined)
            setCodes(given)
            void refreshSession()
          }}
        />
      )}
      {codes !== undefined && <RecoveryCodes codes={codes} onStored={() => setCodes(undefined)} />}
    </Region>
  )
}

function RecoveryCodes({ codes, onStored }: { codes: readonly string[]; onStored: () => void }) {
  const words = text.profile
  return (
    <Dialog title={words.codes} isOpen>
      <Stack>
        <Text size="sm">{words.codesWhy}</Text>
        <List aria-label={words.codes} listStyleType="none">
          {codes.map((code) => (
            <List.Item key={code}>
              <Code>{code}</Code>
            </List.Item>
          ))}
        </List>
        <Group justify="flex-end">
          <CopyButton value={codes.join('\n')} />
          <Button onClick={onStored}>{text.secret.stored}</Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

function Confirm({
  factor,
  onClose,
  onConfirmed,
}: {
  factor: SecondFactor
  onClose: () => void
  onConfirmed: (codes: readonly string[]) => void
}) {
  const [code, setCode] = useState('')
  const confirm = useApiMutation(
    (given: string) => unwrap(own().POST('/console/api/two_factor/confirm', { body: { code: given } })),
    ({ recovery_codes }) => onConfirmed(recovery_codes),
  )
  const words = text.profile
  return (
    <Dialog title={words.setUp} isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          confirm.run(code.trim())
        }}
      >
        <Stack>
          <Text size="sm">{words.scan}</Text>
          <QrCode value={factor.otpauth_url} />
          <TextField label={words.secret} value={factor.secret} onChange={() => undefined} />
          <TextField
            label={words.code}
            value={code}
            onChange={setCode}
            param="code"
            problem={confirm.problem}
            autoComplete="one-time-code"
          />
          {confirm.problem !== undefined && confirm.problem.about('code') === undefined && (
            <ProblemAlert problem={confirm.problem} />
          )}
          <Group justify="flex-end">
            <Button type="submit" loading={confirm.isRunning}>
              {words.confirm}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}

/** Many apps cannot read inverted codes. */
function QrCode({ value }: { value: string }) {
  const picture = useMemo(() => `data:image/svg+xml,${encodeURIComponent(renderSVG(value, { border: 2 }))}`, [value])
  return <img className="qr-code" src={picture} alt={text.profile.qr} />
}
