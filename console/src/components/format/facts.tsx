/** Name-value lists, regions with a heading, and statuses. */
import { Paper, Title } from '@mantine/core'
import { Fragment, type ReactNode, useId } from 'react'
import type { components } from '../../api/generated/v1.ts'
import { humanize, text } from '../../text/en.ts'

export function DescriptionList({ of }: { of: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {of
        .filter(([, value]) => value !== null)
        .map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd dir="auto">{value}</dd>
          </Fragment>
        ))}
    </dl>
  )
}

export function Region({ title, children }: { title: string; children: ReactNode }) {
  const heading = useId()
  return (
    <Paper component="section" aria-labelledby={heading} withBorder p="md">
      <Title order={2} size="h4" id={heading} mb="xs">
        {title}
      </Title>
      {children}
    </Paper>
  )
}

const statuses: Readonly<Record<Exclude<StatusKind, 'off'>, readonly string[]>> = {
  good: ['delivered', 'read', 'completed', 'succeeded', 'active', 'connected', 'opted_in', 'accepted', 'done'],
  bad: ['failed', 'disconnected', 'opted_out', 'refused', 'rejected'],
  waiting: ['queued', 'sending', 'pending', 'running', 'checked', 'draft', 'throttled', 'unavailable'],
  busy: ['sent', 'received', 'open'],
}
const kinds = new Map(
  Object.entries(statuses).flatMap(([kind, words]) => words.map((word) => [word, kind as StatusKind])),
)

export const Status = ({ status }: { status: string }) => (
  <StatusLabel kind={kinds.get(status) ?? 'off'}>{humanize(status)}</StatusLabel>
)

export type StatusKind = 'good' | 'waiting' | 'busy' | 'bad' | 'off'

export const StatusLabel = ({ kind, children }: { kind: StatusKind; children: string }) => (
  <span className={`mark mark-${kind}`}>{children}</span>
)

export type Message = components['schemas']['Message']

export function statusSentence(
  { status, error, send_at, ...message }: Message,
  time: (instant: string) => string,
): string {
  const { why } = text.messages
  if (status === 'failed' && error !== null) {
    const sentence = (why.failed[error.code] ?? why.other)(error.message)
    return error.provider_code === '' ? sentence : why.withCode(sentence, error.provider_code)
  }
  if (status === 'queued' && send_at !== null && Date.parse(send_at) > Date.parse(message.created_at))
    return why.scheduled(time(send_at))
  return status in why ? why[status as 'queued'] : humanize(status)
}
