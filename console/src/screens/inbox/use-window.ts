/** How much of a service window is left, followed while it is on the screen. */
import { useEffect, useState } from 'react'

const lookMs = 1_000
const minuteMs = 60_000

/** Whole minutes; -1 once it is over; null where the channel asks for none. */
const leftOf = (expires_at: string | null): number | null => {
  if (expires_at === null) return null
  const left = Date.parse(expires_at) - Date.now()
  return left <= 0 ? -1 : Math.floor(left / minuteMs)
}

export function useWindow(expires_at: string | null): { readonly minutes: number | null; readonly isClosed: boolean } {
  const [, setMinutes] = useState(() => leftOf(expires_at))
  useEffect(() => {
    const timer = setInterval(() => setMinutes(leftOf(expires_at)), lookMs)
    return () => clearInterval(timer)
  }, [expires_at])
  const minutes = leftOf(expires_at)
  return { minutes, isClosed: minutes === -1 }
}
