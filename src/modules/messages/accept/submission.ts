/** Submissions: messages of one origin to be stored and charged (docs/decisions/producers.md). */
import type { TraceContext } from '../../../lib/trace-context.ts'
import type { OriginType } from '../../../api/resources/message.ts'
import { messageLength, type MessageRow } from '../message.ts'
import type { AcceptRow, CheckedMessage } from './row.ts'

/** `interactive`: a caller waits. `bulk`: uses the remaining capacity, in chunks. */
export type Traffic = 'interactive' | 'bulk'

export interface Submission {
  /** As in the API: `cmp_…` for all messages of a campaign. */
  readonly origin: { readonly type: OriginType; readonly id: string | null }
  readonly traffic: Traffic
  readonly items: readonly SubmissionItem[]
  readonly trace?: TraceContext | undefined
  readonly producer?: ProducerData
}

export interface SubmissionItem {
  readonly message: CheckedMessage
  /** The producer's id of the item (`cmp_…/17`); it becomes at most one message. */
  readonly submission_key?: string
}

export interface ProducerData {
  readonly kind: string
  readonly values?: Readonly<Record<string, string>>
  /** The JSON that the producer stores. Needs the locking path. */
  readonly valueFrom?: (outcomes: readonly ItemOutcome[]) => unknown
}

/** `parameter_invalid`: the database rejects the row. */
export type RefusalCode = 'recipient_blocked' | 'policy_violation' | 'parameter_invalid'

/** Only `unavailable` leaves an item undecided. */
export type ItemOutcome =
  | { readonly kind: 'accepted'; readonly row: MessageRow }
  | { readonly kind: 'refused'; readonly code: RefusalCode }
  | { readonly kind: 'no_funds' }
  /** Its producer's row is cancelled, paused or locked. */
  | { readonly kind: 'withdrawn' }
  /** Submitted before; null if the producer does not know its message. */
  | { readonly kind: 'known'; readonly message_id: string | null }
  | { readonly kind: 'unavailable'; readonly reason: UnavailableReason }

/** `uncertain`: the message may have been accepted. */
export type UnavailableReason = 'full' | 'unreachable' | 'stopping' | 'uncertain'

export interface Pending {
  readonly submission: Submission
  readonly outcomes: (ItemOutcome | undefined)[]
  open: number
  /** Nothing more of it is committed. */
  rejected: boolean
  readonly resolve: (outcomes: readonly ItemOutcome[]) => void
  readonly reject: (error: unknown) => void
}

/** Decided in one transaction: an interactive submission, or one item of a bulk one. */
export interface Unit {
  readonly pending: Pending
  readonly items: readonly SubmissionItem[]
  readonly first: number
  /** The same at every repeat. */
  readonly rows: AcceptRow[]
  readonly outcomes: (ItemOutcome | undefined)[]
  /** As JSON, approximately. */
  readonly characters: number
  answered: boolean
  /** The connection was lost during a commit. */
  mayBeStored: boolean
}

export const unitOf = (pending: Pending, items: readonly SubmissionItem[], first: number): Unit => ({
  pending,
  items,
  first,
  rows: [],
  outcomes: items.map(() => undefined),
  characters: items.reduce((sum, { message }) => sum + messageLength(message), 0),
  answered: false,
  mayBeStored: false,
})

export function answer(unit: Unit, outcomes: readonly ItemOutcome[]): void {
  if (unit.answered) return
  unit.answered = true
  const { pending } = unit
  for (let index = 0; index < outcomes.length; index++) pending.outcomes[unit.first + index] = outcomes[index]
  pending.open -= outcomes.length
  if (pending.open === 0) pending.resolve(pending.outcomes as ItemOutcome[])
}

export function reject(unit: Unit, error: unknown): void {
  unit.answered = true
  const { pending } = unit
  pending.rejected = true
  pending.reject(error)
}

export const answerAll = (unit: Unit, outcome: ItemOutcome): void =>
  answer(
    unit,
    unit.items.map(() => outcome),
  )

export const isDecided = (unit: Unit): boolean => !unit.outcomes.includes(undefined)

export interface Place {
  readonly unit: Unit
  readonly index: number
  readonly row: AcceptRow
}

export function undecided(units: readonly Unit[]): Place[] {
  const places: Place[] = []
  for (const unit of units) {
    for (let index = 0; index < unit.rows.length; index++)
      if (unit.outcomes[index] === undefined) places.push({ unit, index, row: unit.rows[index]! })
  }
  return places
}
