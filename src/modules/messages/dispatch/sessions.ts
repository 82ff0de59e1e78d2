/** The sessions that hand-overs go through, as far as this process holds them. */
import type { Session } from '../../../providers/provider.ts'

export interface Sessions {
  /** Whether messages of the channel go through a session that is open in this process. */
  sends(channel_id: string): boolean
  find(channel_id: string): Session | undefined
}

export const sessionsOf = (find: Sessions['find']): Sessions => ({
  find,
  sends: (channel_id) => find(channel_id)?.send !== undefined,
})
