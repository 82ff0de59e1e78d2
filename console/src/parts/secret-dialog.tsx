/** A secret that is shown once: only saying that it is stored closes the dialog. */
import { Button, Code, Group, Stack, Text } from '@mantine/core'
import { text } from '../text/en.ts'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'

export function SecretDialog({ title, secret, onStored }: { title: string; secret: string | undefined; onStored: () => void }) {
  return (
    <Dialog title={title} isOpen={secret !== undefined}>
      <Stack>
        <Text size="sm">{text.secret.once}</Text>
        <Code block className="code">
          {secret}
        </Code>
        <Group justify="flex-end">
          <CopyButton value={secret ?? ''} />
          <Button onClick={onStored}>{text.secret.stored}</Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
