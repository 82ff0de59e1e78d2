/** What was sent to a contact and how that went, newest first. */
import { List, Text } from '@mantine/core'
import { v1 } from '../../api/client.ts'
import { problemOf } from '../../api/problem.ts'
import { useRead } from '../../api/use-read.ts'
import { PathLink } from '../../parts/path-link.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Waiting } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { useTime } from '../../parts/times.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import { inWords, text } from '../../text/en.ts'
import type { Contact } from './contact.ts'

const rowsMax = 20

export function ContactTimeline({ contact: { phone, identifiers } }: { contact: Contact }) {
  const place = usePlace()
  const time = useTime()
  const to = phone ?? Object.values(identifiers)[0]
  const sent = useRead(
    place,
    ['messages.list', { to, limit: rowsMax }],
    () => v1(place).GET('/v1/messages', { params: { query: { to, limit: rowsMax } as never } }),
    to !== undefined,
  )
  const words = text.contacts
  if (to === undefined) return <Text c="dimmed">{words.nothingYet}</Text>
  if (sent.isPending) return <Waiting />
  if (sent.data === undefined) return <ProblemAlert problem={problemOf(sent.error)} onAgain={() => void sent.refetch()} />
  if (sent.data.data.length === 0) return <Text c="dimmed">{words.nothingYet}</Text>
  return (
    <List listStyleType="none" spacing="xs">
      {sent.data.data.map(({ id, status, type, channel_type, created_at }) => (
        <List.Item key={id}>
          <PathLink to={pathTo(place, 'messages', id)}>{`${inWords(channel_type)} · ${inWords(type)}`}</PathLink> <Status status={status} />{' '}
          <Text span size="sm" c="dimmed">
            {time(created_at)}
          </Text>
        </List.Item>
      ))}
    </List>
  )
}
