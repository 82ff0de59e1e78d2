/**
 * The parsed rules of segments that were asked for lately. Reading tens of thousands of values holds every other request up, and a version of a
 * segment always means the same: who asks for it again and again pays once.
 */
import type { Tenant } from '../../../api/caller.ts'
import { isId } from '../../../api/ids.ts'
import { pause } from '../../../lib/clock.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { parseRules, type ParsedRules } from './rules.ts'
import * as repository from './repository.ts'

interface Cached {
  readonly rules: ParsedRules
  /** Of the rules as they are stored. */
  readonly characters: number
}

/** Of all that is kept; parsed and folded, rules take some four times as much memory as their text. */
const charactersMax = 8_000_000

/** By segment and version, the one that was asked for longest ago first. */
const kept = new Map<string, Cached>()
let characters = 0

/** The rules of a segment as they are now; null where there is no such segment (any more). */
export async function rulesOf(sql: Db, tenant: Tenant, id: string): Promise<ParsedRules | null> {
  const version = isId('seg', id) ? await repository.findVersion(sql, tenant, id) : null
  if (version === null) return null
  const found = kept.get(keyOf(id, version))
  if (found !== undefined) return keep(keyOf(id, version), found)
  const row = await repository.findVersioned(sql, tenant, id)
  return row === null ? null : await storedRulesOf(keyOf(id, row.version), () => Promise.resolve(row.rules))
}

/** Rules that somebody has kept under a key that always means the same, given as JSON text; null where they are kept no more. */
export async function storedRulesOf(key: string, read: () => Promise<string | null>): Promise<ParsedRules | null> {
  const found = kept.get(key)
  if (found !== undefined) return keep(key, found)
  const text = await read()
  if (text === null) return null
  await pause(0) // between the two others have their turn
  const rules = parseRules(JSON.parse(text))
  await pause(0)
  return keep(key, { rules, characters: text.length })
}

const keyOf = (id: string, version: string): string => `${id} ${version}`

function keep(key: string, cached: Cached): ParsedRules {
  forget(key)
  kept.set(key, cached)
  characters += cached.characters
  for (const oldest of kept.keys()) {
    if (characters <= charactersMax) break
    forget(oldest)
  }
  return cached.rules
}

function forget(key: string): void {
  characters -= kept.get(key)?.characters ?? 0
  kept.delete(key)
}
