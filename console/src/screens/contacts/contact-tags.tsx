/** The tags of a contact: each can be taken away, and one added. */
import { Badge, Button, CloseButton, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import { useBecause } from '../../api/may.ts'
import { useAction } from '../../api/use-action.ts'
import { useStale } from '../../api/use-stale.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { TextField } from '../../parts/fields.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { usePlace } from '../../parts/use-place.ts'
import { text } from '../../text/en.ts'
import type { Contact } from './contact.ts'

export function ContactTags({ contact: { id, tags } }: { contact: Contact }) {
  const place = usePlace()
  const stale = useStale(place)
  const because = useBecause(place)('contacts:write')
  const [typed, setTyped] = useState('')
  const change = useAction(
    (by: { add?: string[]; remove?: string[] }, key) =>
      answered(
        v1(place).POST('/v1/contacts/tags', { body: { contacts: [id], ...by }, headers: { 'Idempotency-Key': key } }),
      ),
    async (_, { add }) => {
      if (add !== undefined) setTyped('')
      await stale('contacts.')
    },
  )
  const words = text.contacts
  return (
    <Stack gap="sm">
      {tags.length === 0 && <Text c="dimmed">{words.noTags}</Text>}
      <Group gap="xs">
        {tags.map((tag) => (
          <Badge
            key={tag}
            variant="outline"
            color="gray"
            c="inherit"
            size="lg"
            tt="none"
            fw={500}
            className="tag"
            rightSection={
              because === undefined && (
                <CloseButton
                  size="sm"
                  variant="transparent"
                  c="inherit"
                  aria-label={words.removeTag(tag)}
                  onClick={() => change.run({ remove: [tag] })}
                />
              )
            }
          >
            <bdi>{tag}</bdi>
          </Badge>
        ))}
      </Group>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (because === undefined && typed.trim() !== '') change.run({ add: [typed.trim()] })
        }}
      >
        <Group align="flex-end" gap="xs">
          <TextField label={words.newTag} value={typed} onChange={setTyped} />
          {because === undefined ? (
            <Button type="submit" variant="default" loading={change.isRunning}>
              {words.addTag}
            </Button>
          ) : (
            <ActionButton label={words.addTag} variant="default" because={because} onPress={() => undefined} />
          )}
        </Group>
      </form>
      {change.problem !== undefined && <ProblemAlert problem={change.problem} />}
    </Stack>
  )
}
