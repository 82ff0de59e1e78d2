/** Sends one message of a stored draft. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import { useAction } from '../../api/use-action.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Done } from '../../parts/done.tsx'
import { TextField } from '../../parts/fields.tsx'
import { useAttempt } from '../../parts/use-attempt.ts'
import { PathLink } from '../../parts/path-link.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { pathTo, type Place } from '../../paths.ts'
import { text } from '../../text/en.ts'

const words = text.campaigns.form

export function SendTestDialog({ place, id, onClose }: { place: Place; id: string; onClose: () => void }) {
  const [to, setTo] = useState('')
  const action = useAction(
    (body: { to: string }, key) =>
      answered(
        v1(place).POST('/v1/campaigns/{id}/test', {
          params: { path: { id } },
          body,
          headers: { 'Idempotency-Key': key },
        }),
      ),
    undefined,
    useAttempt(place, `campaign test ${id}`),
  )
  return (
    <Dialog title={words.test} isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          action.run({ to: to.trim() })
        }}
      >
        <Stack>
          <Text size="sm">{words.testWhy}</Text>
          <TextField label={words.testTo} value={to} onChange={setTo} param="to" problem={action.problem} />
          {action.problem !== undefined && <ProblemAlert problem={action.problem} />}
          <Done>
            {action.result !== undefined && (
              <>
                {words.tested}{' '}
                <PathLink to={pathTo(place, 'messages', action.result.id)}>{text.campaigns.one.openMessage}</PathLink>
              </>
            )}
          </Done>
          <Group justify="flex-end">
            <Button type="submit" loading={action.isRunning}>
              {words.test}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
