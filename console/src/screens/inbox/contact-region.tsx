/** Who a conversation is with, as far as it is known. */
import { Text } from '@mantine/core'
import { v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useRead } from '../../api/use-read.ts'
import { Facts, Region } from '../../parts/facts.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { useTime } from '../../parts/times.ts'
import { useChannels } from '../../parts/use-channels.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import { inWords, text } from '../../text/en.ts'
import { nameOf, type Conversation } from './conversation.ts'

type Contact = components['schemas']['Contact']

export function ContactRegion({ conversation }: { conversation: Conversation }) {
  const place = usePlace()
  const time = useTime()
  const { contact_id, channel_id, identifier } = conversation
  const contact = useRead(
    place,
    ['contacts.retrieve', contact_id],
    () => v1(place).GET('/v1/contacts/{id}', { params: { path: { id: contact_id ?? '' } } }),
    contact_id !== null,
  )
  const channel = useChannels(place).all.find(({ id }) => id === channel_id)
  const { facts, contact: title, noContact } = text.inbox
  return (
    <Region title={title}>
      {contact_id === null ? (
        <Text size="sm" c="dimmed">
          {noContact}
        </Text>
      ) : (
        <PathLink to={pathTo(place, 'contacts', contact_id)}>
          <bdi>{nameOf(conversation)}</bdi>
        </PathLink>
      )}
      <Facts
        of={[
          [facts.channel, channel === undefined ? channel_id : channel.name],
          [facts.address, nameOf(conversation) === identifier ? null : identifier],
          ...(contact.data === undefined ? [] : factsOf(contact.data, identifier, channel?.type, time)),
        ]}
      />
    </Region>
  )
}

/** What answering takes to know. */
function factsOf(
  { phone, email, consent, blocked, tags, last_seen_at }: Contact,
  identifier: string,
  channelType: string | undefined,
  time: (instant: string) => string,
) {
  const { facts, consents, blockedYes } = text.inbox
  const status = (channelType === undefined ? undefined : consent[channelType]?.status) ?? 'unknown'
  return [
    [facts.phone, phone === identifier ? null : phone],
    [facts.email, email],
    [facts.consent, consents[status] ?? inWords(status)],
    [facts.blocked, blocked ? blockedYes : null],
    [facts.tags, tags.length === 0 ? null : tags.join(', ')],
    [facts.seen, last_seen_at === null ? null : time(last_seen_at)],
  ] as const
}
