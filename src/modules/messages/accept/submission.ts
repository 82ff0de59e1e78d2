/** What is submitted: messages of one origin on their way to be stored and charged, and what becomes of each of them. Nothing here knows HTTP (docs/decisions/producers.md). */
import type { TraceContext } from '../../../lib/trace-context.ts'
import type { OriginType } from '../../../api/resources/message.ts'
import type { MessageRow } from '../message.ts'
import type { AcceptRow, CheckedMessage } from './row.ts'

/** `interactive`: somebody waits for the answer. `bulk`: nobody does; it takes what is left, a piece at a time. */
export type Traffic = 'interactive' | 'bulk'

export interface Submission {
  /** As the API shows it: `cmp_…` for all messages of a campaign. */
  readonly origin: { readonly type: OriginType; readonly id: string | null }
  readonly traffic: Traffic
  readonly items: readonly SubmissionItem[]
  /** Which its messages are of. */
  readonly trace?: TraceContext | undefined
  /** What is read and written in the transaction that accepts; absent: nothing. */
  readonly alongside?: Alongside
}

export interface SubmissionItem {
  readonly message: CheckedMessage
  /** By which its producer knows it, `cmp_…/17`: one message at most becomes of it, which keeps it. */
  readonly submission_key?: string
}

/** What a producer brings along; what that means is its own registered fragment's (producers.ts). */
export interface Alongside {
  /** Of the producer. */
  readonly kind: string
  /** Values of the producer's columns, the same for all items. */
  readonly values?: Readonly<Record<string, string>>
  /**
   * What the producer's fragment reads as `value` (JSON), made of all outcomes of an interactive submission. Its presence sends the submission, as a
   * whole, through the locking path, which knows the outcomes before it writes.
   */
  readonly valueFrom?: (outcomes: readonly ItemOutcome[]) => unknown
}

/** What refuses a message for good. `parameter_invalid`: it breaks a rule of the database. */
export type RefusalCode = 'recipient_blocked' | 'policy_violation' | 'parameter_invalid'

/** What became of one item. Only `unavailable` leaves nothing decided. */
export type ItemOutcome =
  | { readonly kind: 'accepted'; readonly row: MessageRow }
  | { readonly kind: 'refused'; readonly code: RefusalCode }
  /** No package credit applies and the wallet is below the price. */
  | { readonly kind: 'no_funds' }
  /** Its producer's row could not be held: cancelled or paused meanwhile, or in another's hands at this moment. */
  | { readonly kind: 'withdrawn' }
  /** It was submitted before. The id of its message where the producer's fragment tells it. */
  | { readonly kind: 'known'; readonly message_id: string | null }
  | { readonly kind: 'unavailable'; readonly reason: UnavailableReason }

/** `full`: too much waits already. `unreachable`: the database cannot be asked. `stopping`: the process ends. `uncertain`: the database went away in a commit and stayed away; it may have been accepted. */
export type UnavailableReason = 'full' | 'unreachable' | 'stopping' | 'uncertain'

/** A submission on its way. */
export interface Pending {
  readonly submission: Submission
  /** By position. */
  readonly outcomes: (ItemOutcome | undefined)[]
  /** Items that have no outcome yet. */
  open: number
  /** Once true, what of it is not committed is not to be. */
  rejected: boolean
  readonly resolve: (outcomes: readonly ItemOutcome[]) => void
  readonly reject: (error: unknown) => void
}

/** What must be decided in one transaction: an interactive submission as a whole, of a bulk one each item by itself. */
export interface Unit {
  readonly pending: Pending
  readonly items: readonly SubmissionItem[]
  /** The position of the first item. */
  readonly first: number
  /** One an item, made when the unit is committed first, and the same at every repeat. */
  readonly rows: AcceptRow[]
  readonly outcomes: (ItemOutcome | undefined)[]
  /** About how long its messages are as JSON. */
  readonly characters: number
  answered: boolean
  /** An attempt to store it was lost on its way, and may yet turn out to be committed. */
  mayBeStored: boolean
}

export const unitOf = (pending: Pending, items: readonly SubmissionItem[], first: number): Unit => ({
  pending,
  items,
  first,
  rows: [],
  outcomes: items.map(() => undefined),
  characters: items.reduce(
    (sum, { message }) => sum + charactersOf(message.content) + charactersOf(message.metadata),
    0,
  ),
  answered: false,
  mayBeStored: false,
})

/** Tells the submission what became of a unit, once. */
export function answer(unit: Unit, outcomes: readonly ItemOutcome[]): void {
  if (unit.answered) return
  unit.answered = true
  const { pending } = unit
  for (let index = 0; index < outcomes.length; index++) pending.outcomes[unit.first + index] = outcomes[index]
  pending.open -= outcomes.length
  if (pending.open === 0) pending.resolve(pending.outcomes as ItemOutcome[])
}

/** Ends a submission for what nobody expected. */
export function reject(unit: Unit, error: unknown): void {
  unit.answered = true
  const { pending } = unit
  pending.rejected = true
  pending.reject(error)
}

/** Gives all items of a unit one outcome. */
export const answerAll = (unit: Unit, outcome: ItemOutcome): void =>
  answer(
    unit,
    unit.items.map(() => outcome),
  )

/** True when every item has its outcome. */
export const isDecided = (unit: Unit): boolean => !unit.outcomes.includes(undefined)

/** A row, and where its outcome goes. */
export interface Place {
  readonly unit: Unit
  readonly index: number
  readonly row: AcceptRow
}

/** The rows that have no outcome yet, with their places. */
export function undecided(units: readonly Unit[]): Place[] {
  const places: Place[] = []
  for (const unit of units) {
    for (let index = 0; index < unit.rows.length; index++)
      if (unit.outcomes[index] === undefined) places.push({ unit, index, row: unit.rows[index]! })
  }
  return places
}

/** What a key, a number or a bracket counts. */
const eachOther = 8

/** The characters of its texts, and a little for everything else in it. */
function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return eachOther
  let sum = eachOther
  if (Array.isArray(value)) for (const item of value) sum += charactersOf(item)
  else for (const key in value) sum += key.length + charactersOf((value as Record<string, unknown>)[key])
  return sum
}
