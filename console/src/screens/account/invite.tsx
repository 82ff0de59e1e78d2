/** Invites somebody: by e-mail, or where the installation sends none by a link that is shown once. */
import { Button, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { answered, own } from '../../api/client.ts'
import { useAction } from '../../api/use-action.ts'
import { useStale } from '../../api/use-stale.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { ChoiceField, TextField } from '../../parts/fields.tsx'
import { FormProblem } from '../../parts/form-problem.tsx'
import { InvitationLink } from './invitation-link.tsx'
import { useDraft } from '../../parts/use-draft.ts'
import { usePlace } from '../../parts/use-place.ts'
import { inWords, text } from '../../text/en.ts'
import { roleNames, type Role } from './roles.ts'

const first: { readonly email: string; readonly role: Role } = { email: '', role: 'viewer' }

export function Invite({ onClose, onDone }: { onClose: () => void; onDone: (said: string) => void }) {
  const place = usePlace()
  const stale = useStale(place)
  const [given, change, forget] = useDraft(place, 'invitation', first)
  const [url, setUrl] = useState<string>()
  const words = text.team
  const invite = useAction(
    (body: { email: string; role: Role }, key) =>
      answered(own(place).POST('/console/api/invitations', { body, headers: { 'Idempotency-Key': key } })),
    async (invitation) => {
      forget()
      await stale('invitations.')
      onDone(words.invited(invitation.email))
      if (invitation.url === null) onClose()
      else setUrl(invitation.url)
    },
  )
  if (url !== undefined) return <InvitationLink url={url} onStored={onClose} />
  return (
    <Dialog title={words.invite} isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          invite.run(given)
        }}
      >
        <Stack>
          <TextField
            label={words.email}
            type="email"
            value={given.email}
            onChange={(email) => change({ ...given, email })}
            param="email"
            problem={invite.problem}
            required
          />
          <ChoiceField
            label={words.role}
            choices={roleNames.map((value) => ({ value, label: inWords(value) }))}
            value={given.role}
            onChange={(role) => change({ ...given, role: role as Role })}
            param="role"
            problem={invite.problem}
          />
          <FormProblem problem={invite.problem} fields={['email', 'role']} />
          <Group justify="flex-end">
            <Button type="submit" loading={invite.isRunning}>
              {words.send}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
