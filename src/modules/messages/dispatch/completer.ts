/** The completer: writes what came of jobs, set-wise: the message's status, references, attempts, reports, and the job ended or given back. */
import { tenantOf } from '../../../api/caller.ts'
import { limits } from '../../../api/limits.ts'
import { isoTime, pause } from '../../../lib/clock.ts'
import { mayPass } from '../../../platform/database/failures.ts'
import { type Db, sqlState, transact } from '../../../platform/database/sql.ts'
import type { ChannelService } from '../../channels/service.ts'
import { insertAnswered, keepReferences } from '../references-repository.ts'
import { lockMessages, storeReports } from '../callbacks/repository.ts'
import type { MessageRow } from '../message.ts'
import { type Acceptance, writeAcceptances } from '../transitions-repository.ts'
import { applyTransitions, stepOf, type TransitionDeps, writeOf } from '../transitions.ts'
import {
  attemptsOf,
  type Completion,
  inOwnWords,
  nextDue,
  referencesOf,
  reportsOf,
  returnedJobOf,
  transitionsOf,
  wasAsked,
  wasHandedOver,
  withProof,
} from './completion.ts'
import * as store from './repository.ts'
import { listOthersIds } from './repository.ts'
import { doubtTemplates, loseChannels } from './blocked-channels.ts'
import type { InHand } from './in-progress.ts'
import type { ProviderIdCache } from './recent-sends.ts'
import { setMaxListeners } from 'node:events'
import type { Platform } from '../../../platform/platform.ts'

export interface WriteDeps extends TransitionDeps {
  readonly providerIds: ProviderIdCache
}

export interface CompleterDeps extends WriteDeps {
  readonly channels: ChannelService
  readonly jobs: InHand
}

export interface Completer {
  /** Writes it soon, with others; the job leaves the hand once it is written. */
  complete(completion: Completion): void
  /** Resolves when nothing waits to be written. */
  drained(): Promise<void>
  /** A database that is away is not waited for as long as before. */
  stop(): void
}

interface State extends CompleterDeps {
  readonly wakes: ReportWakes
  readonly completions: Completion[]
  readonly stopped: AbortController
  writing: Promise<void> | undefined
}

const failuresWhenStoppingMax = 10
const retryFirstMs = 100
/** Soon enough that messages go on within a second of a database that is back. */
const retryMaxMs = 500

export function completer(deps: CompleterDeps): Completer {
  const state: State = {
    ...deps,
    wakes: reportWakes(deps.platform),
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

/** Completions that come while a batch is being written form the next one; a database that is away is waited for. */
async function writeAll(state: State): Promise<void> {
  const { platform, completions, stopped } = state
  await new Promise((resolve) => setImmediate(resolve))
  try {
    for (let failures = 0; completions.length > 0;) {
      const batch = completions.splice(0, limits.group_commit_rows_max)
      const left = await writeWhatCanBe(state, batch)
      failures = left.length < batch.length ? 0 : failures + 1
      // behind the others, which they must not hold up
      completions.push(...left)
      if (failures === 0) continue
      if (stopped.signal.aborted && failures > failuresWhenStoppingMax) return
      // who stops a service waits for it by the machine's time
      if (stopped.signal.aborted) await pause(retryFirstMs)
      else await platform.clock.sleep(Math.min(retryFirstMs * 2 ** failures, retryMaxMs), stopped.signal)
    }
  } finally {
    // with nothing awaited since the last look, so that what is completed from here on begins the next writing
    state.writing = undefined
  }
}

/**
 * Writes a batch; resolves to those of it that are to be tried again. Where the database takes writes, but not these, the batch is halved until the one to blame
 * stands alone, and that one is written in words of our own.
 */
async function writeWhatCanBe(state: State, batch: readonly Completion[]): Promise<readonly Completion[]> {
  try {
    await writeCompletions(state, batch)
  } catch (error) {
    const { log, storage } = state.platform
    storage.failed(error)
    log.error(
      { err: error, messages: batch.length },
      'answers of providers could not be written; they are written again',
    )
    if (mayPass(error)) return batch
    if (batch.length === 1) return await writeInOwnWords(state, batch[0]!)
    const half = Math.ceil(batch.length / 2)
    const first = await writeWhatCanBe(state, batch.slice(0, half))
    return [...first, ...(await writeWhatCanBe(state, batch.slice(half)))]
  }
  await endWritten(state, batch)
  return []
}

/** What the provider said of one message cannot be written: what it comes to is, without it. */
async function writeInOwnWords(state: State, completion: Completion): Promise<readonly Completion[]> {
  const { log } = state.platform
  const about = {
    message_id: completion.job.row.id,
    channel_id: completion.job.row.channel_id,
    outcome: completion.outcome.kind,
  }
  const plain = inOwnWords(completion)
  if (plain === null) return [completion]
  try {
    await writeCompletions(state, [plain])
  } catch (error) {
    log.error(
      { err: error, ...about },
      'an answer of a provider could not be written in our own words either; it is written again behind the others',
    )
    return [completion]
  }
  log.error(about, 'an answer of a provider could not be written as it came; it is written in our own words')
  await endWritten(state, [plain])
  return []
}

async function endWritten(
  { platform, channels, jobs, projections, wakes }: State,
  batch: readonly Completion[],
): Promise<void> {
  await loseChannels(platform, channels, batch)
  await doubtTemplates(platform, channels, batch)
  for (const { job } of batch) jobs.end(job)
  if (jobs.placesWanted()) platform.wake('dispatch')
  platform.notify('reports', 'fan-out')
  projections.wake(batch.map(({ job }) => job.row))
  wakes.plan(batch)
}

/** Writes what became of jobs: plain acceptances in one statement, everything else, and whatever that did not cover, in a transaction. */
export async function writeCompletions(deps: WriteDeps, completions: readonly Completion[]): Promise<void> {
  const plain = completions.flatMap((completion) => plainAcceptance(deps, completion))
  const written = await writeAcceptances(
    deps.platform.pool,
    deps.projections,
    plain.map(({ acceptance }) => acceptance),
  ).catch((error: unknown) => {
    // a provider that names a message as it named another, or a hand-over written twice: the transaction passes over what is there
    if (sqlState(error) === '23505') return new Set<string>()
    throw error
  })
  for (const { acceptance, row } of plain)
    if (written.has(row.id)) deps.providerIds.remember(row.channel_id, acceptance.provider_id, row)
  const rest = completions.filter(({ job }) => !written.has(job.row.id))
  if (rest.length === 0) return
  await writeInTransaction(deps, rest).catch(async (error: unknown) => {
    if (!(error instanceof OthersMessages)) throw error
    await writeInTransaction(
      deps,
      rest.map((completion) => (error.message_ids.has(completion.job.row.id) ? askedAgain(completion) : completion)),
    )
  })
}

/** Messages of which a provider that was asked told ids that have become those of others meanwhile. */
class OthersMessages extends Error {
  readonly message_ids: ReadonlySet<string>
  constructor(message_ids: ReadonlySet<string>) {
    super('A provider that was asked told the id of another message.')
    this.message_ids = message_ids
  }
}

const askedAgain = (completion: Completion): Completion =>
  wasHandedOver(completion)
    ? { ...completion, outcome: { kind: 'unknown', message: 'What the provider told of is another message.' } }
    : completion

/** What the provider told when it was asked is not to be taken for this message where it is another's, which only the references tell for sure. */
async function refuseOthersIds(tx: Db, completions: readonly Completion[]): Promise<void> {
  const claims = completions.flatMap((completion) => {
    const { job, outcome } = completion
    if (!wasAsked(completion) || outcome.kind !== 'accepted') return []
    return [
      {
        ...tenantOf(job.row),
        channel_id: job.row.channel_id,
        message_id: job.row.id,
        provider_ids: outcome.provider_ids,
      },
    ]
  })
  const others = await listOthersIds(tx, claims)
  if (others.size > 0) throw new OthersMessages(new Set(others.values()))
}

/** A completion that is one step with one event, one reference and at most one report to keep; none otherwise. */
function plainAcceptance(
  { platform }: WriteDeps,
  completion: Completion,
): { acceptance: Acceptance; row: MessageRow }[] {
  if (!wasHandedOver(completion) || completion.asked === true || completion.outcome.kind !== 'accepted') return []
  const { job, outcome, duration_ms, provider } = completion
  if (outcome.provider_ids.length > 1 || (outcome.later_items ?? []).length > 1) return []
  const step = stepOf(job.row, transitionsOf(completion))
  if (step?.after.status !== 'sent' || step.emitted.length !== 1) return []
  const [report = null] = reportsOf(completion, platform.ids)
  const acceptance = {
    ...writeOf(platform, step),
    provider,
    provider_id: outcome.provider_ids[0],
    attempt_id: platform.ids('att'),
    number: job.attempts + 1,
    duration_ms,
    report,
  }
  return [{ acceptance, row: step.after }]
}

/**
 * The completions as their jobs stand by now, and those among them that this process may no longer settle, since another one has taken their messages over: its word counts. A
 * hand-over here is then an attempt among others. What was accepted counts whoever tells it.
 */
async function asJobsStand(
  { platform: { process_id } }: WriteDeps,
  tx: Db,
  completions: readonly Completion[],
): Promise<{ current: Completion[]; overtaken: Set<Completion> }> {
  const asked = completions.filter(({ outcome }) => outcome.kind !== 'accepted' && outcome.kind !== 'gone')
  // all of the batch at once: those that are accepted are changed by it, too, and two that lock several in different orders wait for each other
  if (asked.length > 0)
    await lockMessages(
      tx,
      completions.map(({ job: { row } }) => ({ ...tenantOf(row), message_id: row.id })),
    )
  const found = await store.lockSettleable(
    tx,
    process_id,
    asked.map(({ job: { row, attempts } }) => ({ message_id: row.id, attempts })),
  )
  const jobs = new Map(found.map((one) => [one.message_id, one]))
  const overtaken = new Set<Completion>()
  const current = completions.map((completion) => {
    if (completion.outcome.kind === 'accepted' || completion.outcome.kind === 'gone') return completion
    const job = jobs.get(completion.job.row.id)
    const now = job === undefined ? completion : withProof(completion, job.accepted_ids)
    // of one that it did not hand over this process knows nothing once it has lost it
    if (job?.own !== true && !(wasHandedOver(completion) && job !== undefined)) overtaken.add(now)
    return now
  })
  return { current, overtaken }
}

async function writeInTransaction(deps: WriteDeps, written: readonly Completion[]): Promise<void> {
  const { pool, ids, clock, process_id } = deps.platform
  const idsOf = (some: readonly Completion[]) => some.map(({ job }) => job.row.id)
  const changed = await transact(pool, async (tx) => {
    const { current: completions, overtaken } = await asJobsStand(deps, tx, written)
    const settled = completions.filter((completion) => !overtaken.has(completion))
    const rows = await applyTransitions(deps, tx, settled.flatMap(transitionsOf))
    // what a provider within this process took left nothing behind: cancelled meanwhile, the message was never handed over
    const sent = completions.filter(
      (completion) => !(wasHandedOver(completion) && completion.instant) || rows.has(completion.job.row.id),
    )
    const [found, answered] = [sent.filter(wasAsked), sent.filter((completion) => !wasAsked(completion))]
    await insertAnswered(tx, answered.flatMap(referencesOf))
    await keepReferences(tx, found.flatMap(referencesOf))
    await refuseOthersIds(tx, found)
    await storeReports(
      tx,
      sent.flatMap((completion) => reportsOf(completion, ids)),
    )
    await store.insertAttempts(
      tx,
      sent.flatMap((completion) => attemptsOf(completion, ids)),
    )
    const gone = [...settled.filter(({ outcome }) => outcome.kind === 'gone'), ...overtaken]
    const others = settled.filter(({ outcome }) => outcome.kind !== 'gone')
    await store.endJobs(tx, idsOf(others.filter((completion) => nextDue(completion) === null)))
    await store.endGoneJobs(tx, process_id, idsOf(gone), isoTime(clock.now()))
    await store.returnJobs(tx, process_id, others.flatMap(returnedJobOf))
    return rows
  })
  for (const { job, outcome } of written) {
    const row = changed.get(job.row.id)
    // a message of several parts is as far as the least of them: that is read
    if (row !== undefined && outcome.kind === 'accepted' && outcome.provider_ids.length === 1)
      deps.providerIds.remember(row.channel_id, outcome.provider_ids[0], row)
  }
}

export interface ReportWakes {
  /** Wakes the worker `reports` when what came with these answers is due. */
  plan(batch: readonly Completion[]): void
  stop(): void
}

/** Wakes are told apart by so much. */
const stepMs = 20

function reportWakes({ clock, notify }: Pick<Platform, 'clock' | 'notify'>): ReportWakes {
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
            if (!stopped.signal.aborted) notify('reports')
          })
        }
      }
    },
    stop: () => stopped.abort(),
  }
}
