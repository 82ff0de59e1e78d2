/** What may follow what in a message's life (behaviour: messages 6). A transition lists every earlier status that it may overtake, since receipts arrive late and out of order. */
import type { MessageStatus } from '../../api/resources/message.ts'

export const transitions = {
  /** Handed to the provider. Repeating a hand-over stays in `sending`. */
  claim: { from: ['queued', 'sending'], to: 'sending' },
  accept: { from: ['queued', 'sending'], to: 'sent' },
  deliver: { from: ['queued', 'sending', 'sent'], to: 'delivered' },
  open: { from: ['queued', 'sending', 'sent', 'delivered'], to: 'read' },
  fail: { from: ['queued', 'sending', 'sent'], to: 'failed' },
  /** Not handed over, or refused when it was: says nothing of an earlier hand-over that the provider has told of meanwhile. */
  refuse: { from: ['queued', 'sending'], to: 'failed' },
  /** Cancelled by the sender, or emptied by an opt-out: only while nothing has been handed over. */
  cancel: { from: ['queued'], to: 'failed' },
} as const satisfies Record<string, { from: readonly MessageStatus[]; to: MessageStatus }>

export type Transition = keyof typeof transitions

export const allows = (status: MessageStatus, transition: Transition): boolean =>
  (transitions[transition].from as readonly MessageStatus[]).includes(status)

/** How far an outbound message is. No transition leads to a lower rank, so that of several told in any order the highest is the last. */
export const rankOf = { queued: 0, sending: 1, sent: 2, delivered: 3, read: 4, failed: 5 } as const satisfies Partial<
  Record<MessageStatus, number>
>

/** The statuses of an outbound message. */
export type OutboundStatus = keyof typeof rankOf

/** The time stamps that a status sets; a receipt that overtakes `sent` sets `sent_at` too, and `read` without `delivered` sets `delivered_at`. */
export const stamps: Readonly<
  Record<MessageStatus, readonly ('sending_at' | 'sent_at' | 'delivered_at' | 'read_at' | 'failed_at')[]>
> = {
  queued: [],
  received: [],
  sending: ['sending_at'],
  sent: ['sending_at', 'sent_at'],
  delivered: ['sending_at', 'sent_at', 'delivered_at'],
  read: ['sending_at', 'sent_at', 'delivered_at', 'read_at'],
  failed: ['failed_at'],
}

/** The public event of reaching a status; `queued` and `sending` have none. */
export const eventOf = {
  sent: 'message.sent',
  delivered: 'message.delivered',
  read: 'message.read',
  failed: 'message.failed',
  received: 'message.received',
} as const
