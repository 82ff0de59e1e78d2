/** `Replay failed`: how many those are, one attempt of each, and what became of them. */
import { answered, own, v1 } from '../../api/client.ts'
import { useAction } from '../../api/use-action.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { usePlace } from '../../parts/use-place.ts'
import type { Place } from '../../paths.ts'
import { text } from '../../text/en.ts'

/** As many as one request makes again. */
const atOnce = 5_000
const lookEveryMs = 1_000
const looksMax = 60

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
  const replay = useAction(
    (endpoint: string, key) => answered(own(place).POST('/console/api/deliveries/retry', { body: { endpoint }, headers: { 'Idempotency-Key': key } })),
    async (made) => {
      count.reset()
      await onTold(words.begun(made.count))
      void outcome(place, id, made.count).then(onTold)
    },
  )
  const found = count.result ?? 0
  return (
    <>
      <ActionButton label={words.button} variant="default" because={because} loading={count.isRunning} onPress={() => count.run(undefined)} />
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

/** In a sentence, once each attempt has ended, or after a minute. */
async function outcome(place: Place, id: string, count: number): Promise<string> {
  const words = text.webhooks.replay
  try {
    for (let looks = 0; looks < looksMax; looks++) {
      if (!(await isUnderWay(place, id))) {
        const failed = Math.min(count, await failedOf(place, id))
        return words.ended(count - failed, failed)
      }
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs))
    }
  } catch {
    // the table asks as well, and says what is wrong
  }
  return words.begun(count)
}

/** Whether deliveries that were tried before are due now: later ones follow their schedule. */
async function isUnderWay(place: Place, id: string): Promise<boolean> {
  const { data } = await answered(
    v1(place).GET('/v1/webhook_endpoints/{id}/deliveries', { params: { path: { id }, query: { status: 'pending', limit: 100 } } }),
  )
  const now = Date.now()
  return data.some(({ attempts, next_attempt_at }) => attempts > 0 && next_attempt_at !== null && Date.parse(next_attempt_at) <= now)
}
