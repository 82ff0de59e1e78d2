/** Says that somebody else has changed what a form is about since the person began to change it. Nothing of theirs is lost by that. */
import { Alert, Button, Group, Text } from '@mantine/core'
import { text } from '../text/en.ts'

export function Outdated({ when, onGivenUp }: { when: boolean; onGivenUp: () => void }) {
  if (!when) return null
  return (
    <Alert color="yellow" role="alert" mb="md">
      <Group justify="space-between">
        <Text size="sm">{text.outdated.why}</Text>
        <Button size="xs" variant="default" onClick={onGivenUp}>
          {text.outdated.show}
        </Button>
      </Group>
    </Alert>
  )
}
