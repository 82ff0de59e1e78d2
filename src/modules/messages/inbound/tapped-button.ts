/** The button that somebody tapped, where its provider could tell no more than its place in the message. */
import type { Tenant } from '../../../api/caller.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { InboundMessage } from '../../../providers/provider.ts'
import { findMessage } from '../repository.ts'

/** The content of what came in: with the id and the title of our button, as far as the message that is answered is known and has it. */
export async function withTappedButton(
  tx: Db,
  tenant: Tenant,
  { type, content, button_index }: Pick<InboundMessage, 'type' | 'content' | 'button_index'>,
  answered_id: string | null,
): Promise<unknown> {
  if (type !== 'button_reply' || button_index === undefined || answered_id === null) return content
  const answered = await findMessage(tx, tenant, answered_id)
  const sent = answered?.content as
    | {
        readonly action?: {
          readonly buttons?: readonly { readonly reply?: { readonly id: string; readonly title: string } }[]
        }
      }
    | undefined
  const reply = sent?.action?.buttons?.[button_index]?.reply
  return reply === undefined ? content : { ...(content as object), id: reply.id, title: reply.title }
}
