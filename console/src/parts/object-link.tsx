/** The id of something, as a link to its screen where it has one. */
import { pathTo } from '../paths.ts'
import { PathLink } from './path-link.tsx'
import { usePlace } from './use-place.ts'

/** By the prefix of ids. */
const screens: Readonly<Record<string, string>> = {
  msg: 'messages',
  ct: 'contacts',
  ch: 'channels',
  cmp: 'campaigns',
  seg: 'segments',
  aut: 'automations',
  src: 'integrations',
  we: 'webhooks',
  evt: 'events',
}

export function ObjectLink({ id }: { id: string }) {
  const place = usePlace()
  const screen = screens[id.split('_', 1)[0]!]
  if (screen === undefined) return <span>{id}</span>
  return <PathLink to={pathTo(place, screen, id)}>{id}</PathLink>
}
