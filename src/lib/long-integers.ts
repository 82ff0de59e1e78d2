/** Integers in JSON texts that a number of JavaScript cannot keep to the last digit. */

/** Of JSON: texts, so that nothing is found within them, and numbers that may have lost digits. */
const textOrLongNumber = /"[^"\\]*(?:\\[^][^"\\]*)*"|(?<![\d.eE+-])-?\d{16}[\d.eE+-]*/g

/** The JSON text with each integer that would lose digits replaced by what `write` makes of it. */
export const replaceLongIntegers = (json: string, write: (token: string) => string): string =>
  json.replaceAll(textOrLongNumber, (token) => (losesDigits(token) ? write(token) : token))

function losesDigits(token: string): boolean {
  if (token.startsWith('"') || !/^-?\d+$/.test(token)) return false
  const value = Number(token)
  return Number.isFinite(value) && BigInt(token) !== BigInt(value)
}
