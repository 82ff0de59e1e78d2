/** Caches parsed rules by version: parsing tens of thousands of values blocks other requests. */
import type { Tenant } from '../../../api/caller.ts'
import { isId } from '../../../api/ids.ts'
import { pause } from '../../../lib/clock.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { parseRules, type ParsedRules } from './rules.ts'
import * as repository from './repository.ts'

interface Cached {
  readonly rules: ParsedRules
  readonly characters: number
}

/** Length of the texts; parsed rules take about four times as much. */
const charactersMax = 8_000_000

const entries = new Map<string, Cached>()
let characters = 0

export async function rulesOf(sql: Db, tenant: Tenant, id: string): Promise<ParsedRules | null> {
  const version = isId('seg', id) ? await repository.findVersion(sql, tenant, id) : null
  if (version === null) return null
  const found = entries.get(keyOf(id, version))
  if (found !== undefined) return keep(keyOf(id, version), found)
  const row = await repository.findVersioned(sql, tenant, id)
  return row === null ? null : await storedRulesOf(keyOf(id, row.version), () => Promise.resolve(row.rules))
}

/** `key` must be immutable. null when they are no longer stored. */
export async function storedRulesOf(key: string, read: () => Promise<string | null>): Promise<ParsedRules | null> {
  const found = entries.get(key)
  if (found !== undefined) return keep(key, found)
  const text = await read()
  if (text === null) return null
  await pause(0) // yield to other requests
  const rules = parseRules(JSON.parse(text))
  await pause(0)
  return keep(key, { rules, characters: text.length })
}

const keyOf = (id: string, version: string): string => `${id} ${version}`

function keep(key: string, cached: Cached): ParsedRules {
  forget(key)
  entries.set(key, cached)
  characters += cached.characters
  for (const oldest of entries.keys()) {
    if (characters <= charactersMax) break
    forget(oldest)
  }
  return cached.rules
}

function forget(key: string): void {
  characters -= entries.get(key)?.characters ?? 0
  entries.delete(key)
}
