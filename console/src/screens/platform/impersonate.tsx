/** Begins to act for an account, with a reason that its people read. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answered, own } from '../../api/client.ts'
import { setSession } from '../../api/session.ts'
import { useAction } from '../../api/use-action.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/fields.tsx'
import { FormProblem } from '../../parts/form-problem.tsx'
import { pathTo } from '../../paths.ts'
import { text } from '../../text/en.ts'

export function Impersonate({
  account: { id, name },
  onClose,
}: {
  account: { id: string; name: string }
  onClose: () => void
}) {
  const [reason, setReason] = useState('')
  const navigate = useNavigate()
  const words = text.platform
  const begin = useAction(
    (body: { account: string; reason: string }) => answered(own().POST('/console/api/admin/impersonations', { body })),
    async (session) => {
      setSession(session)
      await navigate({ to: pathTo({ account: id, mode: 'live' }) as never })
    },
  )
  return (
    <Dialog title={words.impersonateNamed(name)} isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          begin.run({ account: id, reason })
        }}
      >
        <Stack>
          <Text dir="auto">{words.impersonateWhy(name)}</Text>
          <TextField
            label={words.reason}
            hint={words.reasonHint}
            value={reason}
            onChange={setReason}
            param="reason"
            problem={begin.problem}
            required
          />
          <FormProblem problem={begin.problem} fields={['reason']} />
          <Group justify="flex-end">
            <Button type="submit" loading={begin.isRunning}>
              {words.begin}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
