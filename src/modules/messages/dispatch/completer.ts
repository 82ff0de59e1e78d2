/** The completer writes outcomes of jobs in batches. */
import { tenantOf } from '../../../api/caller.ts'
import { limits } from '../../../api/limits.ts'
import { isoTime, pause } from '../../../lib/clock.ts'
import { mayPass } from '../../../platform/database/failures.ts'
import { type Db, sqlState, transact } from '../../../platform/database/sql.ts'
import type { ChannelService } from '../../channels/service.ts'
import { insertAnswered, saveReferences } from '../references-repository.ts'
import { lockMessages, insertCallbackItems } from '../callbacks/repository.ts'
import type { MessageRow } from '../message.ts'
import { type Acceptance, writeAcceptances } from '../transitions-repository.ts'
import { applyTransitions, stepOf, type TransitionDeps, writeOf } from '../transitions.ts'
import {
  attemptsOf,
  type Completion,
  withoutProviderText,
  nextDue,
  referencesOf,
  newItemsOf,
  returnedJobOf,
  transitionsOf,
  wasQueried,
  wasAttempted,
  withAcceptedIds,
} from './completion.ts'
import * as store from './repository.ts'
import { refreshRefusedTemplates, disconnectLostChannels } from './blocked-channels.ts'
import type { InProgress } from './in-progress.ts'
import type { ProviderIdCache } from './provider-id-cache.ts'
import { setMaxListeners } from 'node:events'
import type { Platform } from '../../../platform/platform.ts'

export interface WriteDeps extends TransitionDeps {
  readonly providerIds: ProviderIdCache
}

export interface CompleterDeps extends WriteDeps {
  readonly channels: ChannelService
  readonly jobs: InProgress
}

export interface Completer {
  complete(completion: Completion): void
  drained(): Promise<void>
  stop(): void
}

interface State extends CompleterDeps {
  readonly wakes: ItemWakes
  readonly completions: Completion[]
  readonly stopped: AbortController
  writing: Promise<void> | undefined
}

const failuresWhenStoppingMax = 10
const retryFirstMs = 100
const retryMaxMs = 500

export function completer(deps: CompleterDeps): Completer {
  const state: State = {
    ...deps,
    wakes: itemWakes(deps.platform),
    completions: [],
    stopped: new AbortController(),
    writing: undefined,
  }
  return {
    complete(completion) {
      state.completions.push(completion)
      state.writing ??= writeAll(state)
    },
    async drained() {
      while (state.writing !== undefined) await state.writing
    },
    stop() {
      state.wakes.stop()
      state.stopped.abort()
    },
  }
}

/** Completions that arrive during a write form the next batch. */
async function writeAll(state: State): Promise<void> {
  const { platform, completions, stopped } = state
  await new Promise((resolve) => setImmediate(resolve))
  try {
    for (let failures = 0; completions.length > 0;) {
      const batch = completions.splice(0, limits.group_commit_rows_max)
      const left = await writeBatch(state, batch)
      failures = left.length < batch.length ? 0 : failures + 1
      completions.push(...left)
      if (failures === 0) continue
      if (stopped.signal.aborted && failures > failuresWhenStoppingMax) return
      // real time: a test clock may not advance while stopping
      if (stopped.signal.aborted) await pause(retryFirstMs)
      else await platform.clock.sleep(Math.min(retryFirstMs * 2 ** failures, retryMaxMs), stopped.signal)
    }
  } finally {
    // nothing is awaited since the last check, so the next completion starts a new run
    state.writing = undefined
  }
}

/**
 * Resolves to the completions to retry. Halves a rejected batch until the bad completion is alone, and writes that
 * without the provider's texts.
 */
async function writeBatch(state: State, batch: readonly Completion[]): Promise<readonly Completion[]> {
  try {
    await writeCompletions(state, batch)
  } catch (error) {
    const { log, storage } = state.platform
    storage.failed(error)
    log.error({ err: error, messages: batch.length }, 'outcomes could not be written; the write is repeated')
    if (mayPass(error)) return batch
    if (batch.length === 1) return await writeWithoutProviderText(state, batch[0]!)
    const half = Math.ceil(batch.length / 2)
    const first = await writeBatch(state, batch.slice(0, half))
    return [...first, ...(await writeBatch(state, batch.slice(half)))]
  }
  await finishBatch(state, batch)
  return []
}

async function writeWithoutProviderText(state: State, completion: Completion): Promise<readonly Completion[]> {
  const { log } = state.platform
  const about = {
    message_id: completion.job.row.id,
    channel_id: completion.job.row.channel_id,
    outcome: completion.outcome.kind,
  }
  const plain = withoutProviderText(completion)
  if (plain === null) return [completion]
  try {
    await writeCompletions(state, [plain])
  } catch (error) {
    log.error(
      { err: error, ...about },
      'an outcome could not be written even without the texts of the provider; the write is repeated after the others',
    )
    return [completion]
  }
  log.error(about, 'an outcome could not be written with the texts of the provider and was written without them')
  await finishBatch(state, [plain])
  return []
}

async function finishBatch(
  { platform, channels, jobs, projections, wakes }: State,
  batch: readonly Completion[],
): Promise<void> {
  await disconnectLostChannels(platform, channels, batch)
  await refreshRefusedTemplates(platform, channels, batch)
  for (const { job } of batch) jobs.end(job)
  if (jobs.takePlacesWanted()) platform.wake('dispatch')
  platform.notify('callbacks', 'fan-out')
  projections.wake(batch.map(({ job }) => job.row))
  wakes.plan(batch)
}

export async function writeCompletions(deps: WriteDeps, completions: readonly Completion[]): Promise<void> {
  const plain = completions.flatMap((completion) => plainAcceptance(deps, completion))
  const written = await writeAcceptances(
    deps.platform.pool,
    deps.projections,
    plain.map(({ acceptance }) => acceptance),
  ).catch((error: unknown) => {
    // a repeated provider id or attempt: the transaction ignores existing rows
    if (sqlState(error) === '23505') return new Set<string>()
    throw error
  })
  for (const { acceptance, row } of plain)
    if (written.has(row.id)) deps.providerIds.remember(row.channel_id, acceptance.provider_id, row)
  const rest = completions.filter(({ job }) => !written.has(job.row.id))
  if (rest.length === 0) return
  await writeInTransaction(deps, rest).catch(async (error: unknown) => {
    if (!(error instanceof ForeignIds)) throw error
    await writeInTransaction(
      deps,
      rest.map((completion) => (error.message_ids.has(completion.job.row.id) ? asUnknown(completion) : completion)),
    )
  })
}

class ForeignIds extends Error {
  readonly message_ids: ReadonlySet<string>
  constructor(message_ids: ReadonlySet<string>) {
    super('A status query returned the id of another message.')
    this.message_ids = message_ids
  }
}

const asUnknown = (completion: Completion): Completion =>
  wasAttempted(completion)
    ? { ...completion, outcome: { kind: 'unknown', message: 'The status query found another message.' } }
    : completion

/** A status query must not claim the id of another message; the references decide. */
async function refuseForeignIds(tx: Db, completions: readonly Completion[]): Promise<void> {
  const claims = completions.flatMap((completion) => {
    const { job, outcome } = completion
    if (!wasQueried(completion) || outcome.kind !== 'accepted') return []
    return [
      {
        ...tenantOf(job.row),
        channel_id: job.row.channel_id,
        message_id: job.row.id,
        provider_ids: outcome.provider_ids,
      },
    ]
  })
  const others = await store.listForeignIds(tx, claims)
  if (others.size > 0) throw new ForeignIds(new Set(others.values()))
}

/** One step, event and reference, and at most one callback item; otherwise empty. */
function plainAcceptance(
  { platform }: WriteDeps,
  completion: Completion,
): { acceptance: Acceptance; row: MessageRow }[] {
  if (!wasAttempted(completion) || completion.statusQuery === true || completion.outcome.kind !== 'accepted') return []
  const { job, outcome, duration_ms, provider } = completion
  if (outcome.provider_ids.length > 1 || (outcome.later_items ?? []).length > 1) return []
  const step = stepOf(job.row, transitionsOf(completion))
  if (step?.after.status !== 'sent' || step.emitted.length !== 1) return []
  const [item = null] = newItemsOf(completion, platform.ids)
  const acceptance = {
    ...writeOf(platform, step),
    provider,
    provider_id: outcome.provider_ids[0],
    attempt_id: platform.ids('att'),
    number: job.attempts + 1,
    duration_ms,
    item,
  }
  return [{ acceptance, row: step.after }]
}

/** If another process rescued the job, the completion is only an attempt, unless it is an acceptance. */
async function withCurrentJobs(
  { platform: { process_id } }: WriteDeps,
  tx: Db,
  completions: readonly Completion[],
): Promise<{ current: Completion[]; overtaken: Set<Completion> }> {
  const unaccepted = completions.filter(({ outcome }) => outcome.kind !== 'accepted' && outcome.kind !== 'superseded')
  // lock the whole batch in order: locking in two steps could deadlock
  if (unaccepted.length > 0)
    await lockMessages(
      tx,
      completions.map(({ job: { row } }) => ({ ...tenantOf(row), message_id: row.id })),
    )
  const found = await store.lockCompletable(
    tx,
    process_id,
    unaccepted.map(({ job: { row, attempts } }) => ({ message_id: row.id, attempts })),
  )
  const jobs = new Map(found.map((one) => [one.message_id, one]))
  const overtaken = new Set<Completion>()
  const current = completions.map((completion) => {
    if (completion.outcome.kind === 'accepted' || completion.outcome.kind === 'superseded') return completion
    const job = jobs.get(completion.job.row.id)
    const now = job === undefined ? completion : withAcceptedIds(completion, job.accepted_ids)
    // this process knows nothing of a lost job that it did not send
    if (job?.own !== true && !(wasAttempted(completion) && job !== undefined)) overtaken.add(now)
    return now
  })
  return { current, overtaken }
}

async function writeInTransaction(deps: WriteDeps, written: readonly Completion[]): Promise<void> {
  const { pool, ids, clock, process_id } = deps.platform
  const idsOf = (some: readonly Completion[]) => some.map(({ job }) => job.row.id)
  const changed = await transact(pool, async (tx) => {
    const { current: completions, overtaken } = await withCurrentJobs(deps, tx, written)
    const own = completions.filter((completion) => !overtaken.has(completion))
    const rows = await applyTransitions(deps, tx, own.flatMap(transitionsOf))
    // an in-process provider has not sent a message that was cancelled meanwhile
    const sent = completions.filter(
      (completion) => !(wasAttempted(completion) && completion.instant) || rows.has(completion.job.row.id),
    )
    const [found, answered] = [sent.filter(wasQueried), sent.filter((completion) => !wasQueried(completion))]
    await insertAnswered(tx, answered.flatMap(referencesOf))
    await saveReferences(tx, found.flatMap(referencesOf))
    await refuseForeignIds(tx, found)
    await insertCallbackItems(
      tx,
      sent.flatMap((completion) => newItemsOf(completion, ids)),
    )
    await store.insertAttempts(
      tx,
      sent.flatMap((completion) => attemptsOf(completion, ids)),
    )
    const superseded = [...own.filter(({ outcome }) => outcome.kind === 'superseded'), ...overtaken]
    const others = own.filter(({ outcome }) => outcome.kind !== 'superseded')
    await store.endJobs(tx, idsOf(others.filter((completion) => nextDue(completion) === null)))
    await store.endSupersededJobs(tx, process_id, idsOf(superseded), isoTime(clock.now()))
    await store.returnJobs(tx, process_id, others.flatMap(returnedJobOf))
    return rows
  })
  for (const { job, outcome } of written) {
    const row = changed.get(job.row.id)
    // a message with several parts has the status of its slowest part, so it is read again
    if (row !== undefined && outcome.kind === 'accepted' && outcome.provider_ids.length === 1)
      deps.providerIds.remember(row.channel_id, outcome.provider_ids[0], row)
  }
}

export interface ItemWakes {
  plan(batch: readonly Completion[]): void
  stop(): void
}

const stepMs = 20

function itemWakes({ clock, notify }: Pick<Platform, 'clock' | 'notify'>): ItemWakes {
  const stopped = new AbortController()
  setMaxListeners(0, stopped.signal)
  const planned = new Set<number>()
  return {
    plan(batch) {
      for (const { outcome, at_ms } of batch) {
        if (outcome.kind !== 'accepted') continue
        for (const { after_ms } of outcome.later_items ?? []) {
          const due_ms = Math.ceil((at_ms + after_ms) / stepMs) * stepMs
          if (after_ms === 0 || planned.has(due_ms)) continue
          planned.add(due_ms)
          void clock.sleep(due_ms - clock.now(), stopped.signal).then(() => {
            planned.delete(due_ms)
            if (!stopped.signal.aborted) notify('callbacks')
          })
        }
      }
    },
    stop: () => stopped.abort(),
  }
}
