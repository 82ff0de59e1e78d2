/** What becomes of deliveries that are made again: told as it comes, for as long as the screen is looked at. */
import { useEffect, useRef, useState } from 'react'
import { answered, own } from '../../api/client.ts'
import { usePlace } from '../../parts/use-place.ts'
import type { Place } from '../../paths.ts'
import { text } from '../../text/en.ts'

/** Between two looks, and after the first minute. */
const lookEveryMs = 1_000
const laterEveryMs = 5_000
const looksSoon = 60

/** What is answered takes how many were begun; `onTold` hears in a sentence how many are left, and last what became of them. */
export function useReplayOutcome(id: string, onTold: (said: string) => unknown): (count: number) => void {
  const place = usePlace()
  const [begun, begin] = useState<{ readonly count: number }>()
  const tell = useRef(onTold)
  useEffect(() => {
    tell.current = onTold
  })
  const { account, mode } = place
  useEffect(() => {
    if (begun === undefined) return
    const leaving = new AbortController()
    // the table asks as well, and says what is wrong
    follow({ account, mode }, id, begun.count, leaving.signal, (said) => tell.current(said)).catch(() => undefined)
    return () => leaving.abort()
  }, [begun, account, mode, id])
  return (count) => begin({ count })
}

async function follow(
  place: Place,
  endpoint: string,
  count: number,
  leaving: AbortSignal,
  tell: (said: string) => unknown,
): Promise<void> {
  const words = text.webhooks.replay
  const { created_until } = await progressOf(place, { endpoint })
  let told = count
  for (let looks = 0; !leaving.aborted; looks++) {
    const { pending, failed } = await progressOf(place, { endpoint, created_until })
    if (leaving.aborted) return
    if (pending === 0) {
      const again = Math.min(count, failed)
      await tell(words.ended(count - again, again))
      return
    }
    if (pending < told) await tell(words.begun((told = pending)))
    await new Promise((resolve) => setTimeout(resolve, looks < looksSoon ? lookEveryMs : laterEveryMs))
  }
}

const progressOf = (place: Place, query: { endpoint: string; created_until?: string }) =>
  answered(own(place).GET('/console/api/deliveries/retry', { params: { query } }))
