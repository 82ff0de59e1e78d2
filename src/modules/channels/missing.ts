/** The 404 of a channel that there is not, which says what was probably meant: the channels of a type, or the other mode (behaviour: conventions 2.3). */
import type { Tenant } from '../../api/caller.ts'
import { isId } from '../../api/ids.ts'
import { missing, Problem } from '../../api/problem.ts'
import { channelTypes, type ChannelType } from '../../api/resources/channel.ts'
import type { Db } from '../../platform/database/sql.ts'
import { listIdsOfType } from './store.ts'

const namedMax = 5

/** Asked only once a request is refused. `id`: what was given; `param`: where. */
export async function missingChannel(sql: Db, tenant: Tenant, id: string, param?: string): Promise<Problem> {
  const plain = missing('channel', id, param)
  const type = channelTypes.find((known) => known === id.toLowerCase())
  const hint = type === undefined ? otherMode(tenant, id) : await ofType(sql, tenant, type)
  return hint === undefined ? plain : new Problem(plain.code, `${plain.message} ${hint}`, { param: plain.param })
}

function otherMode({ mode }: Tenant, id: string): string | undefined {
  const isSandbox = id.startsWith('ch_test_')
  if (mode === 'live' && isSandbox)
    return 'It has the form of a sandbox channel, which test keys (`svc_test_…`) alone can use; this request came with a live key.'
  if (mode === 'test' && !isSandbox && isId('ch', id))
    return 'It has the form of a channel of live mode; this request came with a test key, whose channels are `ch_test_<type>`, such as `ch_test_sms`.'
  return undefined
}

async function ofType(sql: Db, tenant: Tenant, type: ChannelType): Promise<string> {
  const ids = tenant.mode === 'test' ? [`ch_test_${type}`] : await listIdsOfType(sql, tenant, type, namedMax + 1)
  if (ids.length === 0)
    return `That is a type, and the account has no channel of it yet: connect one with POST /v1/channels.`
  const more = ids.length > namedMax ? ', and more that GET /v1/channels lists' : ''
  return `That is a type; the id of a channel is needed. Of this type there ${ids.length === 1 ? 'is' : 'are'} ${ids.slice(0, namedMax).join(', ')}${more}.`
}
