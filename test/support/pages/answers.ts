/** Compares command output with a page, where `…` stands for the rest of a text, any value, or omitted members and lines. Times are not compared. */
import { isDeepStrictEqual } from 'node:util'

const rest = '…'
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

export function differenceOf(language: string, shown: string, printed: string): string | undefined {
  const lines = printed.replaceAll('\r', '')
  if (language === 'json') return jsonDifference(shown, lines)
  if (language === 'http') return httpDifference(shown, lines)
  return linesDifference(shown.trimEnd().split('\n'), lines.trimEnd().split('\n'))
}

export function excerptDifference(excerpt: string, text: string): string | undefined {
  const [shown, whole] = [excerpt, text].map((each) => each.replaceAll(/^ +/gm, '').trimEnd().split('\n'))
  const patterns = shown!.map((line) => (line === rest ? '[^]*?' : `${patternOf(line)}\n`))
  const wrong = patterns.findIndex(
    (_, index) => !new RegExp(`^${patterns.slice(0, index + 1).join('')}`, 'm').test(`${whole!.join('\n')}\n`),
  )
  return wrong < 0 ? undefined : `the line "${shown![wrong]}" does not stand there, or not behind those above it`
}

function jsonDifference(shown: string, printed: string): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(printed)
  } catch {
    return `no JSON was printed, but: ${printed.slice(0, 2000)}`
  }
  const where = valueDifference(relaxed(shown), value, '')
  return where === undefined ? undefined : `${where}\nprinted: ${JSON.stringify(value, null, 2).slice(0, 4000)}`
}

function httpDifference(shown: string, printed: string): string | undefined {
  const [[status, ...headers], body] = answerOf(shown)
  const [[realStatus, ...realHeaders], realBody] = answerOf(printed)
  if (!textMatches(status!, realStatus!))
    return `the answer begins with ${realStatus}, not with ${status}: ${realBody.slice(0, 2000)}`
  const missing = headers.find((header) => !realHeaders.some((real) => textMatches(lowerName(header), lowerName(real))))
  if (missing !== undefined) return `no header ${missing} among:\n${realHeaders.join('\n')}`
  if (body === '') return undefined
  return /^[[{]/.test(body)
    ? jsonDifference(body, realBody)
    : linesDifference(body.trimEnd().split('\n'), realBody.trimEnd().split('\n'))
}

function answerOf(text: string): [lines: string[], body: string] {
  const at = text.indexOf('\n\n')
  return at < 0 ? [text.trimEnd().split('\n'), ''] : [text.slice(0, at).split('\n'), text.slice(at + 2)]
}

const lowerName = (header: string): string => header.replace(/^[^:]+:/, (name) => name.toLowerCase())

function linesDifference(shown: readonly string[], printed: readonly string[]): string | undefined {
  let at = 0
  let skipping = false
  for (const line of shown) {
    if (line.trim() === rest) {
      skipping = true
      continue
    }
    const found = skipping
      ? printed.findIndex((each, index) => index >= at && textMatches(line, each))
      : textMatches(line, printed[at] ?? '')
        ? at
        : -1
    if (found < 0)
      return `the line "${line}" was not printed${skipping ? '' : ` as line ${at + 1}`}:\n${printed.join('\n').slice(0, 4000)}`
    at = found + 1
    skipping = false
  }
  return skipping || at >= printed.length
    ? undefined
    : `more was printed than is shown, from line ${at + 1} on:\n${printed.join('\n').slice(0, 4000)}`
}

function textMatches(shown: string, printed: string): boolean {
  if (time.test(shown) && time.test(printed)) return true
  if (!shown.includes(rest)) return shown === printed
  return new RegExp(`^${patternOf(shown, '[^]*')}$`).test(printed)
}

const patternOf = (shown: string, anything = '.*'): string =>
  shown
    .split(rest)
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join(anything)

function valueDifference(shown: unknown, printed: unknown, path: string): string | undefined {
  if (shown === rest) return undefined
  if (typeof shown === 'string' && typeof printed === 'string' && textMatches(shown, printed)) return undefined
  if (Array.isArray(shown) && Array.isArray(printed)) return arrayDifference(shown, printed, path)
  if (isObject(shown) && isObject(printed)) return objectDifference(shown, printed, path)
  return isDeepStrictEqual(shown, printed)
    ? undefined
    : `${path === '' ? 'it' : path} is ${JSON.stringify(printed)}, not ${JSON.stringify(shown)}`
}

function arrayDifference(shown: readonly unknown[], printed: readonly unknown[], path: string): string | undefined {
  const open = shown.at(-1) === rest
  const elements = open ? shown.slice(0, -1) : shown
  if (open ? printed.length < elements.length : printed.length !== elements.length)
    return `${path} has ${printed.length} elements, not ${elements.length}`
  return elements
    .map((element, index) => valueDifference(element, printed[index], `${path}[${index}]`))
    .find((each) => each !== undefined)
}

function objectDifference(
  shown: Readonly<Record<string, unknown>>,
  printed: Readonly<Record<string, unknown>>,
  path: string,
): string | undefined {
  const names = Object.keys(shown).filter((name) => name !== rest)
  const more = rest in shown ? [] : Object.keys(printed).filter((name) => !names.includes(name))
  if (more.length > 0) return `${path === '' ? 'it' : path} has ${more.join(', ')} as well`
  for (const name of names) {
    if (!(name in printed)) return `${path}.${name} is missing`
    const difference = valueDifference(shown[name], printed[name], path === '' ? name : `${path}.${name}`)
    if (difference !== undefined) return difference
  }
  return undefined
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function relaxed(shown: string): unknown {
  const open: string[] = []
  const tokens = [...shown.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]|…|[^"[\]{}…]+/g)].map(([token]) => token)
  const json = tokens.map((token, index) => {
    if (token === '{' || token === '[') open.push(token)
    if (token === '}' || token === ']') open.pop()
    if (token !== rest) return token
    const isValue = open.at(-1) === '[' || tokens[index - 1]?.trim().endsWith(':') === true
    return isValue ? `"${rest}"` : `"${rest}": true`
  })
  return JSON.parse(json.join(''))
}
