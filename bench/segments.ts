/** Bench `segments`: previews over a million contacts, with and without a usable index. */
import { idFloor } from '../src/lib/ids.ts'
import { withoutIndexes } from './without-indexes.ts'
import { median, single, type BenchOptions, type Figure, type Measurement } from './figures.ts'
import { call, startService, type Service } from './service.ts'

const wantedMs = 2000
export const list = 'lst_01h455vb4pex5vsknk084sn02q'

const all = (...conditions: object[]) => ({ match: 'all', conditions })
const any = (...conditions: object[]) => ({ match: 'any', conditions })
const is = (field: string, operator: string, value?: unknown) =>
  value === undefined ? { field, operator } : { field, operator, value }

/** Many values should cost little more than one. */
const [oneValue, manyValues] = ['text, without regard to case', 'forty conditions of a thousand values'] as const
const timesOneValue = 3

const rules = {
  'a tag': all(is('tags', 'contains', 'vip')),
  'a consent': all(is('consent.sms', 'equals', 'opted_in')),
  [oneValue]: all(is('first_name', 'equals', 'FIRST12')),
  'text within text': all(is('email', 'contains', '99@')),
  'a text attribute': all(is('attributes.plan', 'not_equals', 'PRO')),
  'a number attribute': all(is('attributes.age', 'greater_than', 30)),
  'a date attribute': all(is('attributes.since', 'within_days', 200)),
  'the last message': all(is('last_seen_at', 'not_within_days', 30)),
  'members of a list': all(is('lists', 'contains', list)),
  'members of a list, or something else': any(is('blocked', 'equals', true), is('lists', 'contains', list)),
  [manyValues]: any(
    ...Array.from({ length: 40 }, (_, c) =>
      is(
        'email',
        'in',
        Array.from({ length: 1000 }, (_, i) => `nobody${c}-${i}@example.com`),
      ),
    ),
  ),
  'all of it': all(
    is('consent.sms', 'not_equals', 'opted_out'),
    any(is('tags', 'contains_any', ['vip', 'news']), is('attributes.plan', 'in', ['pro', 'team'])),
    is('attributes.age', 'less_than', 60),
    is('lists', 'contains_none', [list]),
  ),
} as const

export const segments: Measurement = {
  name: 'segments',
  title: 'Counting segments',
  async run({ quick, say }: BenchOptions): Promise<{ figures: Figure[]; notes: string[] }> {
    const contacts = quick ? 200_000 : 1_000_000
    await using service = await startService()
    say(`segments: making ${contacts} contacts`)
    await fill(service, contacts)
    const figures: Figure[] = []
    const medians = new Map<string, number>()
    for (const [name, written] of Object.entries(rules)) {
      const times: number[] = []
      const { id } = await call<{ id: string }>(service.port, service.keys[0]!, 'POST', '/v1/segments', {
        name,
        rules: written,
      })
      for (let round = 0; round < 3; round++) {
        const began = performance.now()
        await call(service.port, service.keys[0]!, 'GET', `/v1/segments/${id}/preview`)
        times.push(performance.now() - began)
      }
      say(`segments: ${name}, ${Math.round(median(times))} ms`)
      medians.set(name, median(times))
      figures.push(single(name, 'ms', median(times), { most: wantedMs }))
    }
    figures.push(
      single(`${manyValues}, by one value`, '×', medians.get(manyValues)! / medians.get(oneValue)!, {
        most: timesOneValue,
      }),
    )
    return {
      figures,
      notes: [
        `Previews of ${contacts} contacts: the count, and the reachable contacts per channel type. A third of them are members of the list.`,
      ],
    }
  },
}

export async function fill({ pool, account_id }: Service, contacts: number): Promise<void> {
  await pool`set statement_timeout = 0`
  const at = '2026-01-31T09:30:00.000Z'
  await pool`insert into contact_lists (account_id, mode, id, name, created_at, updated_at) values (${account_id}, 'live', ${list}, 'Members', ${at}, ${at})`
  const first = idFloor('ct', Date.parse(at)).slice(0, -8)
  await withoutIndexes(pool, 'contacts', async () => {
    for (let from = 0; from < contacts; from += 50_000) {
      await pool`
      insert into contacts (account_id, mode, id, phone, phone_key, email, first_name, last_name, locale, timezone, country, tags, attributes, consent, blocked, name_key,
        last_name_key, email_key, labels, last_seen_at, created_at, updated_at)
      select ${account_id}, 'live', ${first} || lpad(i::text, 8, '0'), '+49151' || lpad(i::text, 8, '0'), '+49151' || lpad(i::text, 8, '0'), 'user' || i || '@example.com', 'First' || i % 5000,
        'Last' || i % 20000, (array['de', 'en-US', 'fr'])[1 + i % 3], 'Europe/Berlin', 'DE', tags, jsonb_build_object('plan', (array['free', 'pro', 'team'])[1 + i % 3], 'age', i % 90,
        'city', 'City ' || i % 300, 'since', '2026-0' || 1 + i % 9 || '-15'), jsonb_build_object('sms', jsonb_build_object('status', status, 'source', 'import', 'updated_at', ${at}::text)),
        i % 100 = 0, 'first' || i % 5000 || ' last' || i % 20000, 'last' || i % 20000, 'user' || i || '@example.com', array(select 't:' || tag from unnest(tags) tag) || ('c:sms:' || status),
        ${at}::timestamptz - i % 400 * interval '1 day', ${at}, ${at}
      from generate_series(${from}::int, ${Math.min(from + 50_000, contacts) - 1}::int) i,
        lateral (select case when i % 5 = 0 then array['news', 'vip'] when i % 2 = 0 then array['news'] else '{}' end as tags, case when i % 17 = 0 then 'opted_out' else 'opted_in' end as status) v`
    }
  })
  await pool`
    insert into contact_list_members (account_id, mode, list_id, contact_id, created_at)
    select account_id, mode, ${list}, id, created_at
    from contacts
    where account_id = ${account_id} and mode = 'live' and right(id, 8)::int % 3 = 0`
  await pool`vacuum analyze contacts`
  await pool`vacuum analyze contact_list_members`
}
