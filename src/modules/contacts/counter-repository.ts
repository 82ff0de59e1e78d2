/** SQL of counters: delta rows, which a periodic job folds, so that writers do not wait for each other. */
import type { Tenant } from '../../api/caller.ts'
import type { AttributeType } from '../../api/resources/contact.ts'
import { jsonRows, type Db } from '../../platform/database/sql.ts'
import { foldText, isEmpty, labelsOf, type ContactRow } from './contact.ts'

export interface Delta {
  /** `consent`: `<channel type>:<status>`. */
  readonly kind: 'contact' | 'tag' | 'attribute' | 'list' | 'consent'
  readonly key: string
  readonly name: string
  readonly delta: number
}

export async function insertDeltas(sql: Db, { account_id, mode }: Tenant, deltas: readonly Delta[]): Promise<void> {
  if (deltas.length === 0) return
  await sql`
    insert into contact_counters (account_id, mode, kind, key, name, delta)
    select ${account_id}, ${mode}, kind, key, name, delta
    from json_to_recordset(${jsonRows(deltas)}::text::json) as t(kind text, key text, name text, delta bigint)`
}

export async function countContacts(sql: Db, { account_id, mode }: Tenant): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select coalesce(sum(delta), 0)::bigint as total
    from contact_counters
    where account_id = ${account_id} and mode = ${mode} and kind = 'contact' and key = ''`
  return row!.total
}

export async function countLabels(sql: Db, { account_id, mode }: Tenant, labels: readonly string[]): Promise<number[]> {
  const rows = await sql<{ total: number }[]>`
    select coalesce((
      select sum(delta) from contact_counters
      where account_id = ${account_id}
        and mode = ${mode}
        and kind = case left(label, 2) when 't:' then 'tag' else 'consent' end
        and key = substr(label, 3)
    ), 0)::bigint as total
    from unnest(${[...labels]}::text[]) with ordinality as l(label, n) order by n`
  return rows.map((row) => row.total)
}

/** Near the limit only, to make it exact. */
export async function lockCap(sql: Db, { account_id, mode }: Tenant): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`contact cap ${account_id} ${mode}`}, 0))`
}

export async function foldCounters(sql: Db, keys: number): Promise<number> {
  const [row] = await sql<{ folded: number }[]>`
    with busy as materialized (
      select account_id, mode, kind, key, name
      from contact_counters
      group by account_id, mode, kind, key, name
      having count(*) > 1
      limit ${keys}
    ),
    deltas as (
      delete from contact_counters c using busy b
      where c.account_id = b.account_id
        and c.mode = b.mode
        and c.kind = b.kind
        and c.key = b.key
        and c.name = b.name
      returning c.*
    ),
    sums as (
      insert into contact_counters (account_id, mode, kind, key, name, delta)
      select account_id, mode, kind, key, name, sum(delta)
      from deltas
      group by account_id, mode, kind, key, name
      having sum(delta) <> 0
    )
    select count(*) as folded from deltas`
  return row!.folded
}

type CountedFields = Pick<ContactRow, 'tags' | 'consent' | 'attributes'>

const nobody: CountedFields = { tags: [], consent: {}, attributes: {} }

export class CounterDeltas {
  readonly #deltas = new Map<string, { kind: Delta['kind']; key: string; name: string; delta: number }>()
  readonly #tags = new Map<string, string>()
  readonly #attributes = new Map<string, AttributeType>()

  contact(before: ContactRow | null, after: ContactRow | null): void {
    this.add('contact', '', '', (after === null ? 0 : 1) - (before === null ? 0 : 1))
    this.#difference(before ?? nobody, after ?? nobody)
  }

  #difference(before: CountedFields, after: CountedFields): void {
    if (before.tags !== after.tags) {
      for (const tag of before.tags) this.add('tag', foldText(tag), '', -1)
      for (const tag of after.tags) {
        const key = foldText(tag)
        this.add('tag', key, '', 1)
        if (!this.#tags.has(key)) this.#tags.set(key, tag)
      }
    }
    if (before.consent !== after.consent) {
      this.#consents(before, -1)
      this.#consents(after, 1)
    }
    if (before.attributes === after.attributes) return
    for (const key in before.attributes) this.add('attribute', key, typeof before.attributes[key], -1)
    for (const key in after.attributes) {
      const type = typeof after.attributes[key]
      this.add('attribute', key, type, 1)
      if (!this.#attributes.has(key)) this.#attributes.set(key, type as AttributeType)
    }
  }

  #consents({ consent }: CountedFields, delta: number): void {
    if (isEmpty(consent)) return
    for (const label of labelsOf({ tags: [], consent })) this.add('consent', label.slice(2), '', delta)
  }

  add(kind: Delta['kind'], key: string, name: string, delta: number): void {
    const text = `${kind}|${name}|${key}`
    const entry = this.#deltas.get(text)
    if (entry === undefined) this.#deltas.set(text, { kind, key, name, delta })
    else entry.delta += delta
  }

  deltas = (): Delta[] => [...this.#deltas.values()].filter(({ delta }) => delta !== 0)
  tagNames = (): { key: string; name: string }[] => [...this.#tags].map(([key, name]) => ({ key, name }))
  attributeTypes = (): { key: string; type: AttributeType }[] =>
    [...this.#attributes].map(([key, type]) => ({ key, type }))
}
