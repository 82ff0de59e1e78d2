/** Buttons of a bot carry 64 bytes (https://core.telegram.org/bots/api#inlinekeyboardbutton): a longer id is told by its place, and looked up in the message that is answered. */

const dataBytesMax = 64
const placePrefix = 'posthorn:button:'

/** What a button carries: its id, or its place among the buttons. */
export const callbackData = (id: string, index: number): string =>
  Buffer.byteLength(id) > dataBytesMax || id.startsWith(placePrefix) ? placePrefix + index : id

/** The place that a button carries instead of its id; undefined where it carries the id. */
export function placeOf(data: string): number | undefined {
  const digits = data.startsWith(placePrefix) ? data.slice(placePrefix.length) : ''
  return /^\d$/.test(digits) ? Number(digits) : undefined
}
