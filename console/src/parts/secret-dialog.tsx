/** A secret that is shown once: only saying that it is stored closes the dialog. */
import { Button, Code, Group, Stack, Text } from '@mantine/core'
import { text } from '../text/en.ts'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'

export interface SecretDialogProps {
  readonly title: string
  readonly secret: string | undefined
  /** Another that comes with it. */
  readonly also?: { readonly label: string; readonly secret: string } | undefined
  readonly onStored: () => void
}

export function SecretDialog({ title, secret, also, onStored }: SecretDialogProps) {
  return (
    <Dialog title={title} isOpen={secret !== undefined}>
      <Stack>
        <Text size="sm">{text.secret.once}</Text>
        <Code block className="code">
          {secret}
        </Code>
        {also !== undefined && (
          <>
            <Text size="sm">{also.label}</Text>
            <Code block className="code">
              {also.secret}
            </Code>
          </>
        )}
        <Group justify="flex-end">
          <CopyButton value={secret ?? ''} />
          <Button onClick={onStored}>{text.secret.stored}</Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
