/** Rules that a schema cannot express. Each accepts any value. */
import { fail, type Key, type Walk } from './check.ts'

/** Runs after the schema, which reports wrong types. */
export type Rule = (value: unknown, walk: Walk) => void

export function at(value: unknown, ...keys: readonly Key[]): unknown {
  let here = value
  for (const key of keys) {
    if (typeof here !== 'object' || here === null) return undefined
    here = (here as Record<Key, unknown>)[key]
  }
  return here
}

export function itemsAt(value: unknown, ...keys: readonly Key[]): readonly unknown[] {
  const here = at(value, ...keys)
  return Array.isArray(here) ? here : []
}

export const isAbsent = (value: unknown): boolean => value === undefined || value === null

export function reportDuplicates(value: unknown, places: Iterable<readonly Key[]>, walk: Walk, what: string): void {
  const seen = new Set<string>()
  for (const place of places) {
    const text = at(value, ...place)
    if (typeof text !== 'string' || text === '') continue
    if (seen.has(text))
      fail(walk, 'invalid_value', (path) => `${path} repeats an earlier ${what}; each must be unique.`, ...place)
    seen.add(text)
  }
}

export function uniqueButtons(value: unknown, walk: Walk, ...keys: readonly Key[]): void {
  const places = itemsAt(value, ...keys)
    .slice(0, 100)
    .map((_, i) => [...keys, i, 'reply'] as const)
  reportDuplicates(
    value,
    places.map((place) => [...place, 'id']),
    walk,
    'button id',
  )
  reportDuplicates(
    value,
    places.map((place) => [...place, 'title']),
    walk,
    'button title',
  )
}

export const sectionTitles: Rule = (value, walk) => {
  const sections = itemsAt(value, 'action', 'sections')
  if (sections.length < 2) return
  for (const [i, section] of sections.entries()) {
    if (typeof section !== 'object' || section === null || Array.isArray(section)) continue
    const title = at(section, 'title')
    if (isAbsent(title))
      fail(
        walk,
        'missing_field',
        (path) => `Add ${path}: every section needs a title when there are several.`,
        'action',
        'sections',
        i,
        'title',
      )
    else if (title === '')
      fail(
        walk,
        'too_short',
        (path) => `${path} is empty; every section needs a title when there are several.`,
        'action',
        'sections',
        i,
        'title',
      )
  }
}

export function sectionTotal(entries: string, most: number, what: string): Rule {
  return (value, walk) => {
    const counts = itemsAt(value, 'action', 'sections').map((section) => itemsAt(section, entries).length)
    const total = counts.reduce((sum, count) => sum + count, 0)
    if (total > most && counts.every((count) => count <= most)) {
      fail(
        walk,
        'too_many',
        (path) => `The sections in ${path} have ${total} ${what} together; send at most ${most} in all.`,
        'action',
        'sections',
      )
    }
  }
}

export const headerContent: Rule = (value, walk) => {
  const type = at(value, 'header', 'type')
  if (type === 'text') {
    if (isAbsent(at(value, 'header', 'text')))
      fail(
        walk,
        'missing_field',
        (path) => `Add ${path}: a header of type \`text\` shows a string of 1 to 60 characters.`,
        'header',
        'text',
      )
  } else if (type === 'image' || type === 'video' || type === 'document') {
    if (isAbsent(at(value, 'header', 'url')))
      fail(
        walk,
        'missing_field',
        (path) => `Add ${path}: a header of type \`${type}\` needs the https URL of its file.`,
        'header',
        'url',
      )
  }
}
