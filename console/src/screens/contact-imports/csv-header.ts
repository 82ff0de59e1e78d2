/** The names of a CSV file's columns, read in the browser to ask what each one is. The server reads the file itself. */

/** More than a header has. */
const headBytes = 262_144

export async function columnsOf(file: Blob): Promise<string[]> {
  const head = await file.slice(0, headBytes).text()
  return headerOf(head.replace(/^\uFEFF/, ''))
}

function headerOf(csv: string): string[] {
  const named = /^sep=(.)\r?\n/i.exec(csv)
  const text = named === null ? csv : csv.slice(named[0].length)
  const cells = (delimiter: string) => cellsOf(text, delimiter)
  const all = named === null ? [',', ';', '\t'].map(cells) : [cells(named[1]!)]
  const [widest = []] = all.toSorted((a, b) => b.length - a.length)
  return widest.map((cell) => cell.trim()).filter((cell) => cell !== '')
}

/** Of the first row; in quotes a delimiter and a line's end are part of the cell. */
function cellsOf(text: string, delimiter: string): string[] {
  const cells = ['']
  let inQuotes = false
  for (const character of text) {
    if (character === '"') inQuotes = !inQuotes
    else if (!inQuotes && (character === '\n' || character === '\r')) break
    else if (!inQuotes && character === delimiter) cells.push('')
    else cells.push(cells.pop()! + character)
  }
  return cells
}
