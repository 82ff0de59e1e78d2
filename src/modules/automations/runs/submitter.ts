/** Runs as a submitter of messages: one that is scheduled becomes one message at most (behaviour: integrations 6.3), as docs/decisions/submitting.md has it. The key of a submission is the run's id. */
import type { SubmitterFragment } from '../../messages/service.ts'
import { heldRuns, knownRuns, settledRuns } from './submitter-store.ts'

export const automationSubmitter: SubmitterFragment = {
  kind: 'automation',
  columns: [],
  held: heldRuns,
  settle: settledRuns,
  known: knownRuns,
}
