/** Makes an account, which whoever makes it owns. */
import { Button, Group, Stack } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answered, own } from '../../api/client.ts'
import { refreshSession } from '../../api/session.ts'
import { useAction } from '../../api/use-action.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/fields.tsx'
import { FormProblem } from '../../parts/form-problem.tsx'
import { text } from '../../text/en.ts'

export function NewAccount({ onClose, onMade }: { onClose: () => void; onMade: (name: string) => void }) {
  const [name, setName] = useState('')
  const queries = useQueryClient()
  const words = text.platform
  const make = useAction(
    (given: string, key) =>
      answered(
        own().POST('/console/api/admin/accounts', { body: { name: given }, headers: { 'Idempotency-Key': key } }),
      ),
    async (account) => {
      onMade(account.name)
      onClose()
      await Promise.all([refreshSession(), queries.invalidateQueries({ queryKey: ['admin'] })])
    },
  )
  return (
    <Dialog title={words.create} isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          make.run(name)
        }}
      >
        <Stack>
          <TextField label={words.name} value={name} onChange={setName} param="name" problem={make.problem} required />
          <FormProblem problem={make.problem} fields={['name']} />
          <Group justify="flex-end">
            <Button type="submit" loading={make.isRunning}>
              {words.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
