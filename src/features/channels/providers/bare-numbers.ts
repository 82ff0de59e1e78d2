/** Phone numbers of providers that write them without the plus. */

export const withoutPlus = (number: string): string => number.replace(/^\+/, '')

/** With its plus where it is as long as a number, as it is where it is a name. */
export const senderOf = (from: string): string => (/^\d{7,15}$/.test(from) ? `+${from}` : from)

/** Whether a message to this number, which has no plus, is for the channel. A sender that is a name gets whatever comes. */
export const isForChannel = (to: string, identifier: string): boolean => !/^\+?\d+$/.test(identifier) || to === withoutPlus(identifier)
