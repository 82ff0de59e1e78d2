/** Where a message stands and why, in one sentence, and what else is known of it. */
import { Code, Stack, Text } from '@mantine/core'
import type { components } from '../../api/generated/v1.ts'
import { dollarsOf } from '../../parts/amounts.ts'
import { Facts } from '../../parts/facts.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { Status } from '../../parts/status.tsx'
import { useTime } from '../../parts/times.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import { inWords, text } from '../../text/en.ts'
import { whyOf } from './why.ts'

type Message = components['schemas']['Message']

export function Why({ message }: { message: Message }) {
  const time = useTime()
  return (
    <Stack gap="xs" mb="md">
      <div>
        <Status status={message.status} />
      </div>
      <Text dir="auto">{whyOf(message, time)}</Text>
    </Stack>
  )
}

export function MessageFacts({ message }: { message: Message }) {
  const place = usePlace()
  const time = useTime()
  const { facts, origin, parts } = text.messages
  const { contact_id, reply_to, segments, metadata } = message
  return (
    <Facts
      of={[
        [facts.id, <Code key="id">{message.id}</Code>],
        [facts.to, message.to],
        [facts.from, message.from],
        [facts.channel, `${inWords(message.channel_type)} · ${message.channel_id}`],
        [
          facts.contact,
          contact_id === null ? null : (
            <PathLink key="contact" to={pathTo(place, 'contacts', contact_id)}>
              {contact_id}
            </PathLink>
          ),
        ],
        [facts.reference, message.reference],
        [facts.origin, origin(inWords(message.origin.type), message.origin.id)],
        [
          facts.replyTo,
          reply_to === null ? null : (
            <PathLink key="reply" to={pathTo(place, 'messages', reply_to)}>
              {reply_to}
            </PathLink>
          ),
        ],
        [facts.sendAt, message.send_at === null ? null : time(message.send_at)],
        [facts.expiresAt, message.expires_at === null ? null : time(message.expires_at)],
        [facts.priority, inWords(message.priority)],
        [facts.parts, segments === null ? null : parts(segments, message.encoding)],
        [
          facts.metadata,
          Object.keys(metadata).length === 0 ? null : <Code key="metadata">{JSON.stringify(metadata)}</Code>,
        ],
      ]}
    />
  )
}

export function Cost({ message: { billing } }: { message: Message }) {
  const { costs, paidBy, yes, no } = text.messages
  return (
    <Facts
      of={[
        [costs.paidBy, paidBy[billing.source as keyof typeof paidBy] ?? inWords(billing.source)],
        [costs.amount, dollarsOf(billing.amount_micros)],
        [costs.grant, billing.package_grant_id],
        [costs.refunded, billing.refunded ? yes : no],
      ]}
    />
  )
}
