/** Top-ups of the wallet (behaviour: billing 8). */
import { Type } from 'typebox'
import { TopUp } from '../../../api/resources/top-up.ts'
import { listOf, listQuery, pageOf, pageReply } from '../../../platform/http/paging.ts'
import { reply } from '../../../platform/http/route.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { BillingService } from '../../billing/service.ts'
import { insertAudit } from '../audit/repository.ts'
import { consoleRoute, type ConsoleRoute } from '../route.ts'
import { requireRecent } from '../sign-in/sessions.ts'

const listTopUpsRoute = (topUps: BillingService['topUps']): ConsoleRoute =>
  consoleRoute({
    operation: 'top_ups.list',
    method: 'GET',
    path: '/console/api/top_ups',
    access: 'account',
    moded: true,
    mode: 'live',
    scope: 'billing:read',
    summary: 'List the top-ups',
    query: listQuery({}),
    replies: { 200: listOf(TopUp) },
    errors: ['resource_missing'],
    async handler({ caller, query, sql }) {
      const page = pageOf(query)
      return reply(200, pageReply(await topUps.list(sql, caller, page), page.limit))
    },
  })

const createTopUpRoute = (platform: Platform, topUps: BillingService['topUps']): ConsoleRoute =>
  consoleRoute({
    operation: 'top_ups.create',
    method: 'POST',
    path: '/console/api/top_ups',
    access: 'account',
    moded: true,
    mode: 'live',
    scope: null,
    permission: 'top_up',
    idempotent: 'lease',
    unaudited: true,
    summary: 'Top the wallet up',
    description:
      'Returns the address of the payment page. The wallet is credited when the payment provider confirms the payment. Live mode only.',
    body: Type.Object(
      {
        amount_micros: Type.Integer({
          description: 'In micro-USD: whole cents (a multiple of 10,000) from 5,000,000 to 10,000,000,000.',
          examples: [25_000_000],
        }),
      },
      { additionalProperties: false },
    ),
    replies: { 201: TopUp },
    errors: ['resource_missing', 'upstream_unavailable'],
    refuses: ['reauthentication_required'],
    permit: ({ session }) => requireRecent(platform, session),
    async handler({ caller, session, body, signal, keep, address }) {
      const { clock, ids } = platform
      const order = { amount_micros: body.amount_micros, account_name: caller.account_name, user_id: session.user_id }
      const begun = await topUps.begin(caller, order, signal, async (tx, top_up) => {
        await insertAudit(tx, {
          account_id: caller.account_id,
          id: ids('aud'),
          actor_type: 'user',
          actor_id: session.user_id,
          impersonator_id: null,
          action: 'top_ups.create',
          object_id: top_up.id,
          changes: { amount_micros: top_up.amount_micros },
          address,
          request_id: caller.request_id,
          created_at: new Date(clock.now()).toISOString(),
        })
        await keep(tx, reply(201, top_up))
      })
      return reply(201, begun)
    },
  })

export const topUpRoutes = (platform: Platform, { topUps }: BillingService): ConsoleRoute[] => [
  listTopUpsRoute(topUps),
  createTopUpRoute(platform, topUps),
]
