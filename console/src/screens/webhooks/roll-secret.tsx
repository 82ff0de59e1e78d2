/** Asks how long the previous secret signs as well, and shows the new one. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import { useAction } from '../../api/use-action.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { ChoiceField } from '../../parts/fields.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { SecretDialog } from '../../parts/secret-dialog.tsx'
import { usePlace } from '../../parts/use-place.ts'
import { text } from '../../text/en.ts'

export function RollSecret({ id, onClose }: { id: string; onClose: () => void }) {
  const place = usePlace()
  const words = text.webhooks.one
  const [seconds, setSeconds] = useState('3600')
  const roll = useAction((expire_previous_in_seconds: number, key) =>
    answered(
      v1(place).POST('/v1/webhook_endpoints/{id}/roll_secret', {
        params: { path: { id } },
        body: { expire_previous_in_seconds },
        headers: { 'Idempotency-Key': key },
      }),
    ),
  )
  if (roll.result !== undefined)
    return <SecretDialog title={text.webhooks.secret} secret={roll.result.secret} onStored={onClose} />
  const choices = [
    { value: '0', label: words.rollTimes.now },
    { value: '3600', label: words.rollTimes.hour },
    { value: '86400', label: words.rollTimes.day },
  ]
  return (
    <Dialog title={words.roll} isOpen onClose={onClose}>
      <Stack>
        <Text size="sm">{words.rollWhy}</Text>
        <ChoiceField label={words.rollFor} choices={choices} value={seconds} onChange={setSeconds} />
        {roll.problem !== undefined && <ProblemAlert problem={roll.problem} />}
        <Group justify="flex-end">
          <Button loading={roll.isRunning} onClick={() => roll.run(Number(seconds))}>
            {words.roll}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
