/** What is known of a contact. */
import { Alert, Code, Text } from '@mantine/core'
import { Facts } from '../../parts/facts.tsx'
import { useTime } from '../../parts/times.ts'
import { inWords, text } from '../../text/en.ts'
import type { Contact } from './contact.ts'

export function ContactAbout({ contact }: { contact: Contact }) {
  const time = useTime()
  const { facts, consentSaid, blocked } = text.contacts
  return (
    <>
      {contact.blocked && (
        <Alert color="red" variant="outline" mb="sm" role="note">
          {blocked}
        </Alert>
      )}
      <Facts
        of={[
          [facts.phone, contact.phone],
          [facts.email, contact.email],
          ...Object.entries(contact.identifiers).map(
            ([type, identifier]) => [facts.identifier(inWords(type)), identifier] as const,
          ),
          ...Object.entries(contact.consent).map(
            ([type, { status, source }]) =>
              [facts.consent(inWords(type)), consentSaid(inWords(status), inWords(source))] as const,
          ),
          [facts.country, contact.country],
          [facts.locale, contact.locale],
          [facts.timezone, contact.timezone],
          [facts.externalId, contact.external_id],
          [facts.seen, contact.last_seen_at === null ? null : time(contact.last_seen_at)],
          [facts.lastMessage, contact.last_message_at === null ? null : time(contact.last_message_at)],
          [facts.created, time(contact.created_at)],
        ]}
      />
    </>
  )
}

export function ContactAttributes({ contact: { attributes, metadata } }: { contact: Contact }) {
  const { noAttributes, metadata: own } = text.contacts
  const hasMetadata = Object.keys(metadata).length > 0
  if (Object.keys(attributes).length === 0 && !hasMetadata) return <Text c="dimmed">{noAttributes}</Text>
  return (
    <Facts
      of={[
        ...Object.entries(attributes).map(([name, value]) => [name, String(value)] as const),
        [own, hasMetadata ? <Code key="metadata">{JSON.stringify(metadata)}</Code> : null],
      ]}
    />
  )
}
