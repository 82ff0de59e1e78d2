/** How many contacts the rules on the form mean, while they are written. */
import { Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { answered, own } from '../../api/client.ts'
import { numberOf } from '../../parts/amounts.ts'
import type { rulesOf } from '../../parts/rules.ts'
import { usePlace } from '../../parts/use-place.ts'
import { useRested } from '../../parts/use-rested.ts'
import { text } from '../../text/en.ts'

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
      {isError
        ? text.segments.unreadable
        : data === undefined
          ? ''
          : text.segments.matching(data.count, numberOf(data.count))}
    </Text>
  )
}
