/**
 * Reads values at paths of an event, for conditions and merge tags (behaviour: integrations 5.2, 5.4). Never throws;
 * work is bounded.
 */

export const customerTexts = ['external_id', 'phone', 'email', 'first_name', 'last_name', 'locale'] as const

export type Path = readonly string[]

const pathLengthMax = 255
const stepsMax = 16
const entriesMax = 200

/** `data.order.total`, `data.items[0].name`; null if invalid. */
export function readPath(text: string, root: string): Path | null {
  if (text.length > pathLengthMax || !text.startsWith(`${root}.`)) return null
  const written = text.slice(root.length + 1)
  if (!/^[^.[\]{}]+(?:\.[^.[\]{}]+|\[\d{1,6}\])*$/.test(written)) return null
  const steps = written.replaceAll(/\[(\d+)\]/g, '.$1').split('.')
  return steps.length <= stepsMax && steps.every((step) => step.trim() === step) ? steps : null
}

/** Without an index, every entry of an array is followed. Leaves out null and blank texts. */
export function valuesAt(root: unknown, path: Path): unknown[] {
  let found: unknown[] = [root]
  for (const step of path) {
    const next: unknown[] = []
    for (const value of found) follow(value, step, next)
    found = next
  }
  const ends: unknown[] = []
  for (const value of found) spread(value, ends)
  return ends
}

function follow(value: unknown, step: string, into: unknown[]): void {
  if (typeof value !== 'object' || value === null || into.length >= entriesMax) return
  if (!Array.isArray(value)) {
    if (Object.hasOwn(value, step)) into.push((value as Record<string, unknown>)[step])
    return
  }
  if (/^\d+$/.test(step)) {
    if (Number(step) < value.length) into.push(value[Number(step)])
    return
  }
  for (const entry of value.slice(0, entriesMax)) if (!Array.isArray(entry)) follow(entry, step, into)
}

function spread(value: unknown, into: unknown[]): void {
  if (into.length >= entriesMax || value === null || value === undefined) return
  if (typeof value === 'string' && value.trim() === '') return
  if (!Array.isArray(value)) {
    into.push(value)
    return
  }
  for (const entry of value.slice(0, entriesMax)) spread(entry, into)
}
