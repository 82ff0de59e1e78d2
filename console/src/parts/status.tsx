/** A status of the API as people read it, with a colour that says how good it is. */
import { inWords } from '../text/en.ts'
import { Mark, type MarkKind } from './mark.tsx'

const statuses: Readonly<Record<Exclude<MarkKind, 'off'>, readonly string[]>> = {
  good: ['delivered', 'read', 'completed', 'succeeded', 'active', 'connected', 'opted_in', 'accepted', 'done'],
  bad: ['failed', 'disconnected', 'opted_out', 'refused', 'rejected'],
  waiting: ['queued', 'sending', 'pending', 'running', 'checked', 'draft', 'throttled', 'unavailable'],
  busy: ['sent', 'received', 'open'],
}
const kinds = new Map(
  Object.entries(statuses).flatMap(([kind, words]) => words.map((word) => [word, kind as MarkKind])),
)

export const Status = ({ status }: { status: string }) => (
  <Mark kind={kinds.get(status) ?? 'off'}>{inWords(status)}</Mark>
)
