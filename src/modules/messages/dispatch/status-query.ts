/** Status queries: asks the provider about a send attempt without an answer before it is repeated (docs/decisions/unknown-outcomes.md). */
import { tenantOf } from '../../../api/caller.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Platform } from '../../../platform/platform.ts'
import type {
  Connection,
  FoundMessage,
  OutboundMessage,
  Outcome,
  ProviderAdapter,
  StatusQueryResult,
} from '../../../providers/provider.ts'
import { isAnotherInHand, listOthersIds } from './repository.ts'
import type { Job } from './job.ts'

export interface Question {
  readonly job: Job
  readonly message: OutboundMessage
  readonly adapter: ProviderAdapter
  readonly connection: Connection
}

type AskDeps = Pick<Platform, 'pool' | 'metrics' | 'log'>

/** The outcome of an earlier attempt, or that it must be repeated, because the provider never had the message or cannot tell. Never rejects. */
export async function ask(
  deps: AskDeps,
  question: Question,
  signal: AbortSignal,
): Promise<Outcome | 'not_found' | 'no_information'> {
  const { metrics, log } = deps
  const { job, message, adapter, connection } = question
  const { channel_id } = connection
  try {
    const told = await adapter.queryStatus!(
      { ...message, last_attempt_ended_at: isoTime(job.due_ms) },
      connection,
      signal,
    )
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

type Settled = Exclude<StatusQueryResult, { readonly kind: 'candidates' }>

/** Ignores found messages whose ids belong to other messages of ours. */
async function withoutOthers({ pool }: AskDeps, { row }: Job, told: StatusQueryResult): Promise<Settled> {
  if (told.kind !== 'found' && told.kind !== 'candidates') return told
  const { id, channel_id, to } = row
  const found: readonly FoundMessage[] = told.kind === 'found' ? [told] : told.found
  // checked after the query: every message that it listed is either being sent from here or has a known id
  if (told.kind === 'candidates' && (await isAnotherInHand(pool, { channel_id, message_id: id, to })))
    return {
      kind: 'no_answer',
      message: 'Another message to the recipient is being handed over, and could be taken for this one.',
    }
  const provider_ids = found.flatMap((one) => one.provider_ids)
  const others = await listOthersIds(pool, [{ ...tenantOf(row), channel_id, message_id: id, provider_ids }])
  const own = found.find((one) => one.provider_ids.every((provider_id) => !others.has(provider_id)))
  return own === undefined ? { kind: 'not_found' } : { ...own, kind: 'found' }
}

function outcomeOf(told: Settled): Outcome | 'not_found' | 'no_information' {
  if (told.kind === 'not_found' || told.kind === 'no_information') return told.kind
  if (told.kind === 'refused') return told
  if (told.kind === 'no_answer') return { kind: 'unknown', message: told.message }
  if (told.kind === 'throttled') return { ...told, limit_on: 'channel', provider_code: null }
  const { provider_ids, receipt } = told
  return { kind: 'accepted', provider_ids, later_items: receipt === undefined ? [] : [{ after_ms: 0, item: receipt }] }
}
