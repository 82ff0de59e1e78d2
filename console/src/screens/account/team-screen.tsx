/** Who belongs to the account, who is invited, and in which role. */
import { Stack, Title } from '@mantine/core'
import { useState } from 'react'
import { ActionButton } from '../../parts/action-button.tsx'
import { ApiButton } from '../../parts/api-button.tsx'
import { Done } from '../../parts/done.tsx'
import { Screen } from '../../parts/screen.tsx'
import { usePlace } from '../../parts/use-place.ts'
import { text } from '../../text/en.ts'
import { Invitations } from './invitations.tsx'
import { Invite } from './invite.tsx'
import { Members } from './members.tsx'

export function TeamScreen() {
  const place = usePlace()
  const [isOpen, setOpen] = useState(false)
  const [said, setSaid] = useState('')
  const words = text.team
  return (
    <Screen
      title={text.screens.team}
      mode={place.mode}
      actions={
        <>
          <ApiButton request={{ method: 'GET', path: '/console/api/members', place }} />
          <ActionButton label={words.invite} onPress={() => setOpen(true)} />
        </>
      }
    >
      <Done text={said} />
      <Stack gap="lg">
        <div>
          <Title order={2} size="h4" mb="xs">
            {words.members}
          </Title>
          <Members onDone={setSaid} />
        </div>
        <div>
          <Title order={2} size="h4" mb="xs">
            {words.invitations}
          </Title>
          <Invitations onDone={setSaid} />
        </div>
      </Stack>
      {isOpen && <Invite onClose={() => setOpen(false)} onDone={setSaid} />}
    </Screen>
  )
}
