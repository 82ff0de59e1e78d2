/** Names of the statuses of an order, each of which counts once per source (behaviour: integrations 3.4). */
import { automationEventTypes } from '../api/resources/automation-event.ts'

export const onceKey = (type: string, order_id: string): string => `${type} ${order_id}`

/** Of every status that an order can have. */
export const onceKeysOf = (order_id: string): string[] =>
  automationEventTypes.filter((type) => type.startsWith('order.')).map((type) => onceKey(type, order_id))
