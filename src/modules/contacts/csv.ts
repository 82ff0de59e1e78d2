/** CSV as exports write it: RFC 4180, and nothing in it that a spreadsheet would take for a formula. */

const formula = /^[=+\-@\t\r]/
/** What an import would take a guard off: it gets one more. */
const guarded = /^'+[=+\-@\t\r]/
const e164 = /^\+[1-9]\d{6,14}$/

/** Text with an apostrophe before it where a spreadsheet would compute it; phone numbers in E.164 excepted. */
export const guard = (text: string): string =>
  (formula.test(text) && !e164.test(text)) || guarded.test(text) ? `'${text}` : text

/** A cell as it was before it was guarded. */
export const unguarded = (cell: string): string =>
  cell.charCodeAt(0) === 39 /* ' */ && guarded.test(cell) ? cell.slice(1) : cell

/** One record with its line end. Cells are guarded and quoted as needed. */
export function csvLine(cells: readonly string[], delimiter = ','): string {
  let line = ''
  for (let at = 0; at < cells.length; at++) {
    const cell = guard(cells[at]!)
    if (at > 0) line += delimiter
    line += /["\r\n\t;,]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
  }
  return `${line}\r\n`
}
