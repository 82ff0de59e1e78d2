/** Ingests that commit every message by itself. */
import { groupCommit, type Ingest } from '../../src/modules/messages/accept/group-commit.ts'
import type { CommitDeps } from '../../src/modules/messages/accept/acceptance.ts'
import type { MemoryQueue } from '../../src/modules/messages/accept/row.ts'
import type { Submission } from '../../src/modules/messages/accept/submission.ts'
import { producersOf } from '../../src/modules/messages/accept/producers.ts'
import { projectionsOf } from '../../src/modules/messages/projections.ts'

const noMemoryQueue: MemoryQueue = {
  accepts: () => false,
  process_id: 'bench',
  lease_ms: 60_000,
  offer: () => undefined,
}

const depsOf = ({ platform, billing }: Pick<CommitDeps, 'platform' | 'billing'>): CommitDeps => ({
  platform,
  billing,
  projections: projectionsOf(platform, []),
  producers: producersOf([]),
  memoryQueue: noMemoryQueue,
  alone: () => false,
  onAccepted: () => undefined,
})

export const ingestByStatement = (deps: Pick<CommitDeps, 'platform' | 'billing'>): Ingest =>
  each(depsOf(deps), (submission) => submission)

export const ingestByTransaction = (deps: Pick<CommitDeps, 'platform' | 'billing'>): Ingest =>
  each({ ...depsOf(deps), producers: { ...producersOf([]), fragmentOf: () => null } }, locking)

const each = (deps: CommitDeps, as: (submission: Submission) => Submission): Ingest => ({
  submit: (submission) => groupCommit(deps).submit(as(submission)),
  load: () => ({ interactive: 0, bulk: 0, unadmitted: 0 }),
  stop: async () => undefined,
})

const locking = (submission: Submission): Submission => ({
  ...submission,
  producer: {
    kind: 'request',
    values: { operation: '', idempotency_key: '', fingerprint: '' },
    valueFrom: () => null,
  },
})
