/** Asks the provider about an attempt without an answer (docs/decisions/unknown-outcomes.md). */
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
import { isAnotherInProgress, listForeignIds } from './repository.ts'
import type { Job } from './job.ts'

export interface StatusQuery {
  readonly job: Job
  readonly message: OutboundMessage
  readonly adapter: ProviderAdapter
  readonly connection: Connection
}

type StatusQueryDeps = Pick<Platform, 'pool' | 'metrics' | 'log'>

/** The outcome of the earlier attempt, or why it must be repeated. Never rejects. */
export async function queryStatus(
  deps: StatusQueryDeps,
  query: StatusQuery,
  signal: AbortSignal,
): Promise<Outcome | 'not_found' | 'no_information'> {
  const { metrics, log } = deps
  const { job, message, adapter, connection } = query
  const { channel_id } = connection
  try {
    const result = await adapter.queryStatus!(
      { ...message, last_attempt_ended_at: isoTime(job.due_ms) },
      connection,
      signal,
    )
    const ours = await withoutOthers(deps, job, result)
    metrics.status_queries.inc({ outcome: ours.kind })
    log.info(
      { message_id: message.id, channel_id, outcome: ours.kind, result: result.kind },
      'queried the provider about a send attempt without an answer',
    )
    return outcomeOf(ours)
  } catch (error) {
    log.error({ err: error, channel_id }, 'a status query failed')
    return { kind: 'unknown', message: 'The status query failed.' }
  }
}

type StatusAnswer = Exclude<StatusQueryResult, { readonly kind: 'candidates' }>

/** Ignores ids that belong to other messages of ours. */
async function withoutOthers(
  { pool }: StatusQueryDeps,
  { row }: Job,
  result: StatusQueryResult,
): Promise<StatusAnswer> {
  if (result.kind !== 'found' && result.kind !== 'candidates') return result
  const { id, channel_id, to } = row
  const found: readonly FoundMessage[] = result.kind === 'found' ? [result] : result.found
  // checked after the query: every message that it listed is being sent from here or has a known id
  if (result.kind === 'candidates' && (await isAnotherInProgress(pool, { channel_id, message_id: id, to })))
    return {
      kind: 'no_answer',
      message: 'Another message to the recipient is being sent and could be mistaken for this one.',
    }
  const provider_ids = found.flatMap((one) => one.provider_ids)
  const others = await listForeignIds(pool, [{ ...tenantOf(row), channel_id, message_id: id, provider_ids }])
  const own = found.find((one) => one.provider_ids.every((provider_id) => !others.has(provider_id)))
  return own === undefined ? { kind: 'not_found' } : { ...own, kind: 'found' }
}

function outcomeOf(result: StatusAnswer): Outcome | 'not_found' | 'no_information' {
  if (result.kind === 'not_found' || result.kind === 'no_information') return result.kind
  if (result.kind === 'refused') return result
  if (result.kind === 'no_answer') return { kind: 'unknown', message: result.message }
  if (result.kind === 'throttled') return { ...result, limit_on: 'channel', provider_code: null }
  const { provider_ids, receipt } = result
  return { kind: 'accepted', provider_ids, later_items: receipt === undefined ? [] : [{ after_ms: 0, item: receipt }] }
}
