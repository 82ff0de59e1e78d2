/** Prices per channel type (behaviour: billing 1). */
import { Type, type Static } from 'typebox'
import { objectName } from './shared-fields.ts'

/** Micro-USD per message. */
export const defaultPrices: Readonly<Record<string, number>> = { whatsapp: 5000, sms: 7500, telegram: 0 }

export const Price = Type.Object(
  {
    object: objectName('price'),
    channel_type: Type.String({
      enum: Object.keys(defaultPrices),
      description: 'The kind of channel that it is the price of.',
    }),
    unit: Type.Literal('message', {
      description: 'One accepted message, regardless of its number of parts.',
    }),
    amount_micros: Type.Integer({
      description: 'Micro-USD a message. A price of 0 needs no funds and uses no credits.',
    }),
    currency: Type.Literal('USD', { description: 'Amounts are in micro-USD: 1,000,000 are one US dollar.' }),
  },
  { $id: 'Price' },
)
export type Price = Static<typeof Price>
