/** What a campaign would cost, before it is sent: credits first, the rest from the wallet (behaviour: campaigns 1). Pure. */
import type { Funds } from '../../billing/service.ts'

export interface Estimate {
  readonly credits: number
  /** Micro-USD. */
  readonly wallet_micros: number
}

/** What so many messages take of these funds, whether or not the wallet holds as much. */
export function estimateOf(recipients: number, { credits, price_micros }: Funds): Estimate {
  if (price_micros === 0) return { credits: 0, wallet_micros: 0 }
  const paid = Math.min(credits, recipients)
  return { credits: paid, wallet_micros: (recipients - paid) * price_micros }
}

/** Whether the funds pay for so many messages. */
export const covers = (recipients: number, funds: Funds): boolean =>
  estimateOf(recipients, funds).wallet_micros <= Math.max(0, funds.wallet_micros)
