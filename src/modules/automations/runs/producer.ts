/** Runs as a producer of messages: one that is scheduled becomes one message at most (behaviour: integrations 6.3), as docs/decisions/producers.md has it. The key of a submission is the run's id. */
import type { ProducerFragment } from '../../messages/service.ts'
import { heldRuns, knownRuns, settledRuns } from './producer-store.ts'

export const automationProducer: ProducerFragment = {
  kind: 'automation',
  columns: [],
  held: heldRuns,
  settle: settledRuns,
  known: knownRuns,
}
