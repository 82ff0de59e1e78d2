/** The id of something, as a link to where it is shown. */
import { pathOfObject } from './object-path.ts'
import { PathLink } from './path-link.tsx'
import { usePlace } from './use-place.ts'

export function ObjectLink({ id }: { id: string }) {
  const path = pathOfObject(usePlace(), id)
  return path === undefined ? <span>{id}</span> : <PathLink to={path}>{id}</PathLink>
}
