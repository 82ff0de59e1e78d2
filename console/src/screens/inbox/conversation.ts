/** Conversations of the inbox, as the screen asks for them and names them. */
import type { UseQueryResult } from '@tanstack/react-query'
import { useBecause } from '../../api/may.ts'
import { answered, own } from '../../api/client.ts'
import type { components, operations } from '../../api/generated/own.ts'
import { useAction, type Action } from '../../api/use-action.ts'
import { useRead } from '../../api/use-read.ts'
import { useStale } from '../../api/use-stale.ts'
import { usePlace } from '../../parts/use-place.ts'

export type Conversation = components['schemas']['Conversation']
export type Message =
  operations['conversations.list_messages']['responses'][200]['content']['application/json']['data'][number]
type Change = components['schemas']['ConversationUpdate']

/** What people call who wrote. */
export const nameOf = ({ contact_name, identifier }: Conversation): string => contact_name ?? identifier

/** Nothing is read while none is open. */
export function useConversation(id: string | undefined): UseQueryResult<Conversation> {
  const place = usePlace()
  return useRead(
    place,
    ['conversations.retrieve', id],
    () => own(place).GET('/console/api/conversations/{id}', { params: { path: { id: id ?? '' } } }),
    id !== undefined,
  )
}

/** Changes a conversation, and says why the person may not. */
export function useChange(
  id: string,
  onDone: (change: Change) => void = () => undefined,
): Action<Change> & { readonly because: string | undefined } {
  const place = usePlace()
  const stale = useStale(place)
  const because = useBecause(place)('messages:write')
  const change = useAction(
    (body: Change) => answered(own(place).PATCH('/console/api/conversations/{id}', { params: { path: { id } }, body })),
    async (_changed, given) => {
      await stale('conversations.list', 'conversations.retrieve')
      onDone(given)
    },
  )
  return { ...change, because }
}
