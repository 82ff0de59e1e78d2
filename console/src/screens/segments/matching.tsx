/** How many contacts the rules on the form mean, while they are written. */
import { Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { answered, own } from '../../api/client.ts'
import { numberOf } from '../../parts/amounts.ts'
import type { rulesOf } from '../../parts/rules.ts'
import { usePlace } from '../../parts/use-place.ts'
import { text } from '../../text/en.ts'

/** Without a key pressed for so long it is counted. */
const restMs = 300

export function Matching({ rules }: { rules: ReturnType<typeof rulesOf> }) {
  const place = usePlace()
  const asked = useRested(JSON.stringify(rules))
  const { data, isError, isPlaceholderData } = useQuery({
    queryKey: [place.account, place.mode, 'segment_previews.create', asked],
    queryFn: () => answered(own(place).POST('/console/api/segment_previews', { body: { rules: JSON.parse(asked) } })),
    placeholderData: keepPreviousData,
    retry: false,
  })
  return (
    <Text component="output" display="block" aria-busy={isPlaceholderData} c={isError ? 'dimmed' : undefined}>
      {isError ? text.segments.unreadable : data === undefined ? '' : text.segments.matching(data.count, numberOf(data.count))}
    </Text>
  )
}

/** The text once it has not changed for a moment. */
function useRested(value: string): string {
  const [rested, setRested] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), restMs)
    return () => clearTimeout(timer)
  }, [value])
  return rested
}
