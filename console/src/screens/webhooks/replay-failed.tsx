/** `Replay failed`: how many those are, one attempt of each, and what became of them. */
import { answered, own } from '../../api/client.ts'
import { useAction } from '../../api/use-action.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { usePlace } from '../../parts/use-place.ts'
import type { Place } from '../../paths.ts'
import { text } from '../../text/en.ts'
import { useReplayOutcome } from './use-replay-outcome.ts'

/** As many as one request makes again. */
const atOnce = 5_000

export interface ReplayFailedProps {
  readonly id: string
  readonly because: string | undefined
  /** Is told how it stands, again and again. */
  readonly onTold: (said: string) => unknown
}

export function ReplayFailed({ id, because, onTold }: ReplayFailedProps) {
  const place = usePlace()
  const words = text.webhooks.replay
  const count = useAction(
    () => failedOf(place, id),
    (found) => (found === 0 ? onTold(words.none) : undefined),
  )
  const follow = useReplayOutcome(id, onTold)
  const replay = useAction(
    (endpoint: string, key) =>
      answered(
        own(place).POST('/console/api/deliveries/retry', { body: { endpoint }, headers: { 'Idempotency-Key': key } }),
      ),
    async (made) => {
      count.reset()
      await onTold(words.begun(made.count))
      follow(made.count)
    },
  )
  const found = count.result ?? 0
  return (
    <>
      <ActionButton
        label={words.button}
        variant="default"
        because={because}
        loading={count.isRunning}
        onPress={() => count.run(undefined)}
      />
      {count.problem !== undefined && <ProblemAlert problem={count.problem} />}
      <ConfirmDialog
        title={words.button}
        why={found < atOnce ? words.why(found) : words.whyMany(atOnce)}
        isOpen={found > 0}
        onClose={() => {
          count.reset()
          replay.reset()
        }}
        action={replay}
        onConfirm={() => replay.run(id)}
      />
    </>
  )
}

/** How many would be made again. */
async function failedOf(place: Place, endpoint: string): Promise<number> {
  return (await answered(own(place).POST('/console/api/deliveries/retry', { body: { endpoint, dry_run: true } }))).count
}
