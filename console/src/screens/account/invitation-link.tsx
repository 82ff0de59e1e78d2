/** The link of an invitation, shown once to whoever invited. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/fields.tsx'
import { text } from '../../text/en.ts'

export function InvitationLink({ url, onStored }: { url: string; onStored: () => void }) {
  const words = text.team
  return (
    <Dialog title={words.link} isOpen>
      <Stack>
        <Text size="sm">{words.linkWhy}</Text>
        <TextField label={words.link} value={url} onChange={() => undefined} />
        <Group justify="flex-end">
          <CopyButton value={url} />
          <Button onClick={onStored}>{text.secret.stored}</Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
