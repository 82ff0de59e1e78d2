/** Files that the browser makes from what it has read. */

/** Rows of one shape as CSV (RFC 4180), their names first. What a spreadsheet would take for a formula stays text. */
export function toCsv(rows: readonly object[]): string {
  const [first] = rows
  if (first === undefined) return ''
  const names = Object.keys(first)
  const lines = rows.map((row) => names.map((name) => cell((row as Record<string, unknown>)[name])).join(','))
  return `${[names.join(','), ...lines].join('\r\n')}\r\n`
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const written = typeof value === 'string' ? value : JSON.stringify(value)
  const escaped = /^[=+\-@\t\r]/.test(written) ? `'${written}` : written
  return /[",\r\n]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped
}

/** Has the browser keep a text as a file of this name. */
export function downloadFile(name: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
