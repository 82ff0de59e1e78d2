/** Which conversations are listed and which one is read: both stand in the address. */
import { useNavigate } from '@tanstack/react-router'
import { useLocation } from '@tanstack/react-router'
import { useOwnSession } from '../../api/session.ts'
import { useFilters, type Filters } from '../../parts/use-filters.ts'
import type { Query } from '../../query.ts'

export type Show = 'open' | 'mine' | 'done'

export interface Shown {
  readonly show: Show
  readonly choose: (show: Show) => void
  /** Of the list: what is asked for, under the API's names. */
  readonly filters: Filters
  readonly query: Query
  /** The conversation that is read. */
  readonly open: string | undefined
  /** The address with this conversation read, or none. */
  readonly searchFor: (id: string | undefined) => Query
}

export function useShow(): Shown {
  const { user } = useOwnSession()
  const navigate = useNavigate()
  const search = useLocation().search as Query
  const filters = useFilters(['status', 'assignee'])
  const { status, assignee } = filters.query
  const show = assignee === user.id ? 'mine' : status === 'done' ? 'done' : 'open'
  const asked: Record<Show, Query> = { open: {}, mine: { assignee: user.id }, done: { status: 'done' } }
  const { conversation: open, ...list } = search
  return {
    show,
    choose: (next) => void navigate({ to: '.', search: asked[next] as never, replace: true }),
    filters,
    query: { status: 'open', ...filters.query },
    open: open === '' ? undefined : open,
    searchFor: (id) => (id === undefined ? list : { ...list, conversation: id }),
  }
}
