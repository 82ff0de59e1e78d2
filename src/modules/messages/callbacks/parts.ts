/** Receipts of messages that the provider splits into parts with their own ids (docs/decisions/unknown-outcomes.md). */
import type { Db } from '../../../platform/database/sql.ts'
import type { DeliveryReceipt } from '../../../providers/provider.ts'
import { endJobs, lockAccepted, raiseAccepted } from '../dispatch/repository.ts'
import { saveReferences, type NewReference, type Reference, referenceKey } from '../references-repository.ts'
import type { TransitionRequest } from '../transitions.ts'
import { failPart, type NamedItem, partSteps, raisePart } from './repository.ts'

export const requestOf = (
  reference: Pick<Reference, 'account_id' | 'mode' | 'message_id'>,
  receipt: DeliveryReceipt,
  transition: TransitionRequest['transition'],
  at: string,
): TransitionRequest => ({
  account_id: reference.account_id,
  mode: reference.mode,
  message_id: reference.message_id,
  transition,
  at,
  ...(receipt.error === undefined ? {} : { error: receipt.error }),
})

/**
 * A message has the status of its slowest part and fails with any part; a part sent more than once fails with all its
 * copies. Requires locks of the messages.
 */
export async function requestsOfParts(
  tx: Db,
  receipts: readonly { reference: Reference; receipt: DeliveryReceipt }[],
  at: string,
): Promise<TransitionRequest[]> {
  const requests: TransitionRequest[] = []
  for (const { reference, receipt } of receipts) {
    if (receipt.transition === 'fail') {
      if (!(await failPart(tx, reference))) requests.push(requestOf(reference, receipt, 'fail', at))
      continue
    }
    const steps = await raisePart(tx, reference, receipt.transition)
    const least = partSteps[Math.min(...steps.map((step) => (step === null ? -1 : partSteps.indexOf(step))))]
    if (least === 'deliver' || least === 'open') requests.push(requestOf(reference, receipt, least, at))
  }
  return requests
}

export interface NamedPart extends NamedItem {
  readonly receipt: DeliveryReceipt
  readonly part: NonNullable<DeliveryReceipt['part']>
}

const partsMax = 1000

export function isPart(part: unknown): boolean {
  if (part === undefined) return true
  const { number, total } = (part ?? {}) as Partial<Record<'number' | 'total', unknown>>
  return (
    Number.isInteger(number) &&
    Number.isInteger(total) &&
    1 <= Number(number) &&
    Number(number) <= Number(total) &&
    Number(total) <= partsMax
  )
}

interface AcceptedParts {
  /** The others are applied soon. */
  readonly ids: ReadonlySet<string>
  readonly requests: readonly TransitionRequest[]
  readonly raised: number
}

/**
 * Proved parts are never sent again, remaining ones become due, and complete messages end their jobs. Requires locks of
 * the messages.
 */
export async function acceptNamedParts(tx: Db, named: readonly NamedPart[], at: string): Promise<AcceptedParts> {
  if (named.length === 0) return { ids: new Set(), requests: [], raised: 0 }
  const jobs = await lockAccepted(
    tx,
    named.map(({ message_id }) => message_id),
  )
  const next = named.filter((one) => follows(one, jobs.get(one.message_id), named))
  const inserted = await saveReferences(
    tx,
    next.map((one) => partOf(one, at)),
  )
  const done = next.filter((one) => inserted.has(referenceKey(one)))
  const grown = [...Map.groupBy(done, ({ message_id }) => message_id)].flatMap(([message_id, receipts]) => {
    const before = jobs.get(message_id)
    const accepted_ids = before === undefined ? [] : withProved(before, receipts)
    return before === undefined || accepted_ids.length === before.length
      ? []
      : [{ message_id, accepted_ids, first: receipts[0]! }]
  })
  await saveReferences(
    tx,
    grown.flatMap(({ accepted_ids, first }) =>
      accepted_ids.map((provider_id, part) => ({ ...partOf(first, at), provider_id, part })),
    ),
  )
  const whole = grown.filter(({ accepted_ids, first }) => accepted_ids.length >= first.part.total)
  const rest = grown.filter((one) => !whole.includes(one))
  await raiseAccepted(tx, rest, at)
  await endJobs(
    tx,
    whole.map(({ message_id }) => message_id),
  )
  const requests = [
    ...rest.map(({ first }) => requestOf(first, acceptance, 'claim', at)),
    ...whole.map(({ first }) => requestOf(first, acceptance, 'accept', at)),
    ...(await requestsOfParts(
      tx,
      done.map((one) => ({ reference: partOf(one, at), receipt: one.receipt })),
      at,
    )),
  ]
  return { ids: new Set(done.map(({ id }) => id)), requests, raised: rest.length }
}

const acceptance = { kind: 'delivery_receipt', provider_id: '', transition: 'accept' } as const

const partOf = (
  { account_id, mode, channel_id, provider_id, message_id, part }: NamedPart,
  created_at: string,
): NewReference => ({
  account_id,
  mode,
  channel_id,
  provider_id,
  message_id,
  part: part.number - 1,
  parts: part.total,
  created_at,
})

/** In order and without gaps. */
function withProved(
  accepted_ids: readonly string[],
  receipts: readonly Pick<NamedPart, 'receipt' | 'part' | 'provider_id'>[],
): string[] {
  const all = [...accepted_ids]
  const proving = receipts
    .filter(({ receipt }) => receipt.transition !== 'fail')
    .toSorted((a, b) => a.part.number - b.part.number)
  for (const { part, provider_id } of proving) if (part.number === all.length + 1) all.push(provider_id)
  return all
}

/** Without a job nothing is left to send. */
function follows(
  { message_id, part, receipt }: NamedPart,
  accepted_ids: readonly string[] | undefined,
  named: readonly NamedPart[],
): boolean {
  if (accepted_ids === undefined) return true
  const { length } = withProved(
    accepted_ids,
    named.filter((one) => one.message_id === message_id),
  )
  return part.number <= length + (receipt.transition === 'fail' ? 1 : 0)
}
