/** CSV files created in the browser. */

/** RFC 4180. Values that spreadsheets would run as formulas are escaped. */
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

export function downloadFile(name: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
