/** Money for the wallet: the amount is asked here, and paid at the payment provider. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answered, own } from '../../api/client.ts'
import { Problem, problemOf } from '../../api/problem.ts'
import { useAction } from '../../api/use-action.ts'
import { microsOf } from '../../parts/amounts.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/fields.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { useAttempt } from '../../parts/use-attempt.ts'
import { useDraft } from '../../parts/use-draft.ts'
import { usePlace } from '../../parts/use-place.ts'
import type { Place } from '../../paths.ts'
import { text } from '../../text/en.ts'

/** Whether there is a payment provider: where there is none, nothing is offered. */
export function useTopUps(place: Place): { readonly areOffered: boolean } {
  const found = useQuery({
    queryKey: [place.account, 'live', 'top_ups.list'],
    queryFn: () =>
      answered(own({ ...place, mode: 'live' }).GET('/console/api/top_ups', { params: { query: { limit: 1 } } })),
    refetchInterval: false,
    retry: false,
  })
  return {
    areOffered:
      found.isSuccess ||
      (found.isError && !['resource_missing', 'role_not_allowed'].includes(problemOf(found.error).code)),
  }
}

export function TopUp({ onClose }: { onClose: () => void }) {
  const place = usePlace()
  const [draft, change, forget] = useDraft(place, 'top_up', { amount: '' })
  const [error, setError] = useState<string>()
  const begin = useAction(
    async (amount_micros: number, key) => {
      const { url } = await answered(
        own(place).POST('/console/api/top_ups', { body: { amount_micros }, headers: { 'Idempotency-Key': key } }),
      )
      if (url === null) throw new Problem(0, { code: 'unexpected', message: text.problem.unexpected })
      return url
    },
    (url) => {
      forget()
      location.assign(url)
    },
    useAttempt(place, 'top up'),
  )
  const words = text.billing
  return (
    <Dialog title={words.topUp} isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const micros = microsOf(draft.amount)
          setError(micros === undefined ? words.amountWrong : undefined)
          if (micros !== undefined) begin.run(micros)
        }}
      >
        <Stack>
          <Text size="sm">{words.topUpWhy}</Text>
          <TextField
            label={words.amount}
            hint={words.amountHint}
            value={draft.amount}
            onChange={(amount) => change({ amount })}
            param="amount_micros"
            problem={begin.problem}
            error={error}
            required
          />
          {begin.problem !== undefined && begin.problem.about('amount_micros') === undefined && (
            <ProblemAlert problem={begin.problem} />
          )}
          <Group justify="flex-end">
            <Button type="submit" loading={begin.isRunning}>
              {words.pay}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
