/** Asking providers what became of a hand-over that had no answer, before it is repeated (docs/decisions/unknown-outcomes.md). */
import { tenantOf } from '../../../api/caller.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Platform } from '../../../platform/platform.ts'
import type {
  Adapter,
  AskOutcome,
  Connection,
  FoundMessage,
  Outcome,
  OutboundMessage,
} from '../../../providers/provider.ts'
import { isAnotherInHand, listOthersIds } from './asking-store.ts'
import type { Job } from './job.ts'

export interface Question {
  readonly job: Job
  readonly message: OutboundMessage
  readonly adapter: Adapter
  readonly connection: Connection
}

type AskDeps = Pick<Platform, 'pool' | 'metrics' | 'log'>

/** What the provider tells of an earlier hand-over of the message: its outcome, or that it is to be handed over again, since the provider never had it or cannot tell. Never rejects. */
export async function ask(
  deps: AskDeps,
  question: Question,
  signal: AbortSignal,
): Promise<Outcome | 'never_had' | 'not_told'> {
  const { metrics, log } = deps
  const { job, message, adapter, connection } = question
  const { channel_id } = connection
  try {
    const told = await adapter.ask!({ ...message, handed_over_until: isoTime(job.due_ms) }, connection, signal)
    const ours = await withoutOthers(deps, job, told)
    metrics.asked.inc({ outcome: ours.kind })
    log.info(
      { message_id: message.id, channel_id, outcome: ours.kind, told: told.kind },
      'a provider was asked about a hand-over that had no answer',
    )
    return outcomeOf(ours)
  } catch (error) {
    log.error({ err: error, channel_id }, 'a provider could not be asked about a message')
    return { kind: 'unknown', message: 'The provider could not be asked.' }
  }
}

type Settled = Exclude<AskOutcome, { readonly kind: 'alike' }>

/** What it told, without the messages that are others of ours: of those its provider's ids are known. */
async function withoutOthers({ pool }: AskDeps, { row }: Job, told: AskOutcome): Promise<Settled> {
  if (told.kind !== 'taken' && told.kind !== 'alike') return told
  const { id, channel_id, to } = row
  const found: readonly FoundMessage[] = told.kind === 'taken' ? [told] : told.found
  // asked after the provider was: what it listed is either on its way from here still, or its id is known
  if (told.kind === 'alike' && (await isAnotherInHand(pool, { channel_id, message_id: id, to })))
    return {
      kind: 'no_answer',
      message: 'Another message to the recipient is being handed over, and could be taken for this one.',
    }
  const provider_ids = found.flatMap((one) => one.provider_ids)
  const others = await listOthersIds(pool, [{ ...tenantOf(row), channel_id, message_id: id, provider_ids }])
  const own = found.find((one) => one.provider_ids.every((provider_id) => !others.has(provider_id)))
  return own === undefined ? { kind: 'never_had' } : { ...own, kind: 'taken' }
}

function outcomeOf(told: Settled): Outcome | 'never_had' | 'not_told' {
  if (told.kind === 'never_had' || told.kind === 'not_told') return told.kind
  if (told.kind === 'refused') return told
  if (told.kind === 'no_answer') return { kind: 'unknown', message: told.message }
  if (told.kind === 'throttled') return { ...told, limit_on: 'channel', provider_code: null }
  const { provider_ids, receipt } = told
  return { kind: 'accepted', provider_ids, reports: receipt === undefined ? [] : [{ after_ms: 0, report: receipt }] }
}
