/** What is typed, once it has not changed for a moment: what is asked of it then is not asked at every key. */
import { useEffect, useState } from 'react'

/** Without a key pressed for so long it rests. */
const restMs = 300

export function useRested(value: string): string {
  const [rested, setRested] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), restMs)
    return () => clearTimeout(timer)
  }, [value])
  return rested
}
