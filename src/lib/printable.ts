/** Text of others, as it may be shown on a terminal. */

/** What moves a terminal's cursor, ends a line, or turns the direction of its text, is written out. */
export const printable = (text: string): string =>
  // oxlint-disable-next-line no-control-regex
  text.replaceAll(
    /[\u0000-\u001F\u007F-\u009F\u200E\u200F\u2028-\u202E\u2066-\u2069]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** As `printable`, of each line: those stay. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n')

/** JSON on one line: the same value, for what is written out stands in its texts alone and is an escape there too. */
export const printableJson = (value: unknown): string => printable(JSON.stringify(value))
