/** Where the object of an id is shown, by the prefix of the id. */
import { pathTo, type Place } from '../paths.ts'

const sections: Readonly<Record<string, string>> = {
  msg: 'messages',
  ct: 'contacts',
  seg: 'segments',
  ch: 'channels',
  cmp: 'campaigns',
  aut: 'automations',
  src: 'integrations',
  we: 'webhooks',
  evt: 'events',
}

/** Lists that show what has no screen of its own. */
const lists: Readonly<Record<string, string>> = {
  cnv: 'inbox',
  lst: 'lists',
  imp: 'contacts/import',
  run: 'automations',
  aev: 'integrations',
  whd: 'webhooks',
  txn: 'billing',
  top: 'billing',
  grant: 'billing',
  tpl: 'templates',
  usr: 'team',
  aud: 'audit',
  key: 'developers',
}

/** Undefined where nothing shows it. */
export function pathOfObject(place: Place, id: string): string | undefined {
  const prefix = id.split('_', 1)[0]!
  const section = sections[prefix]
  if (section !== undefined) return pathTo(place, section, id)
  // the one list that finds by an id
  if (prefix === 'req') return `${pathTo(place, 'developers')}?request_id=${id}`
  const list = lists[prefix]
  return list === undefined ? undefined : pathTo(place, ...list.split('/'))
}
