/** What there is to see first. */
import { Screen } from '../../parts/screen.tsx'
import { usePlace } from '../../parts/use-place.ts'
import { text } from '../../text/en.ts'

export function HomeScreen() {
  const { mode } = usePlace()
  return <Screen title={text.screens.home} mode={mode} />
}
