/** How a channel is, in a word. */
import { Mark } from '../../parts/mark.tsx'
import { inWords } from '../../text/en.ts'
import { healthOf, type Channel } from './channel.ts'

export function Health({ of }: { of: Channel }) {
  const { word, kind } = healthOf(of)
  return <Mark kind={kind}>{inWords(word)}</Mark>
}
