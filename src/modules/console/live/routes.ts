/** The event stream of an account (behaviour: console 8). */
import { Type } from 'typebox'
import type { Mode } from '../../../api/caller.ts'
import { Problem } from '../../../api/problem.ts'
import { reply } from '../../../platform/http/route.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { AccountService } from '../../accounts/service.ts'
import { consoleRoute, type ConsoleRoute } from '../route.ts'
import type { Streams } from './streams.ts'

interface StreamRoutesParts {
  readonly platform: Platform
  readonly accounts: AccountService
  readonly streams: Streams
}

const Listening = Type.Object(
  {
    account: Type.String({
      minLength: 1,
      description: 'The account (`acc_`): a browser can send no headers of its own here.',
    }),
    mode: Type.Unsafe<Mode>({ type: 'string', enum: ['live', 'test'], description: 'The mode of the events.' }),
  },
  { additionalProperties: false },
)

export const streamRoutes = ({ platform, accounts, streams }: StreamRoutesParts): ConsoleRoute[] => [
  consoleRoute({
    access: 'session',
    method: 'GET',
    operation: 'stream.listen',
    path: '/console/api/stream',
    scope: null,
    summary: 'Listen to what happens',
    description:
      'Server-sent events, each {`type`, `id`}: the type of the event and the id of its object, of what the role may read. The `id` of a line is that of the event; `Last-Event-ID` continues where it ' +
      'ended. `{"type":"reset"}`: too much has changed to list, so reload. The stream ends with the session or the membership.',
    query: Listening,
    example_query: 'account=acc_01m7z10y8texgrjk0p9bvk2cq6&mode=test',
    replies: { 200: 'text/event-stream; charset=utf-8' },
    errors: ['parameter_missing', 'parameter_invalid', 'account_suspended'],
    refuses: ['account_required'],
    async handler({ query, session, raw }) {
      const account = session.accounts.find(({ id }) => id === query.account)
      if (account === undefined) throw new Problem('account_required')
      if ((await accounts.suspendedOf(platform.pool, [account.id])).size > 0) throw new Problem('account_suspended')
      const last_id = raw.headers['last-event-id']
      const out = streams.open({
        account_id: account.id,
        mode: query.mode,
        cookie_hash: session.token_hash,
        role: account.role,
        last_id: typeof last_id === 'string' && last_id !== '' ? last_id : undefined,
      })
      return reply(200, out, { 'x-accel-buffering': 'no' })
    },
  }),
]
