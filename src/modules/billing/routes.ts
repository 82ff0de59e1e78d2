/** HTTP operations of billing: balance, prices, usage and transactions (behaviour: billing 5). */
import { Type } from 'typebox'
import { limits } from '../../api/limits.ts'
import { Balance } from '../../api/resources/balance.ts'
import { BalanceTransaction, transactionTypes, type TransactionType } from '../../api/resources/balance-transaction.ts'
import { Price } from '../../api/resources/price.ts'
import { UsageRecord, usageGroups, type UsageGroup } from '../../api/resources/usage.ts'
import { DateTimeQuery } from '../../api/date-time-query.ts'
import { listOf, listQuery, onePage, pageOf, pageReply } from '../../platform/http/paging.ts'
import { reply, route, type Route } from '../../platform/http/route.ts'
import type { BillingService } from './service.ts'

const tag = 'Billing'
const scope = 'billing:read'

/** No cursors, because the objects have no IDs. */
const onlyPage = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: limits.page_max, description: 'Objects at most. Default: all of them.' }),
  ),
  starting_after: Type.Optional(Type.String({ minLength: 1, description: 'These objects have no ids: leave it out.' })),
}
type WithoutId = { readonly id?: string }

const UsageList = Type.Object(
  {
    from: Type.Optional(
      Type.String({ format: 'date', description: 'First day (UTC), inclusive. Default: 30 days in all.' }),
    ),
    to: Type.Optional(
      Type.String({
        format: 'date',
        description: 'Last day (UTC), inclusive. Default: today. At most 366 days from `from`.',
      }),
    ),
    group_by: Type.Optional(
      Type.Unsafe<UsageGroup>({
        type: 'string',
        enum: [...usageGroups],
        default: 'day',
        description: '`day` and `month` sum over all channels; `channel_type` and `channel` over the whole period.',
      }),
    ),
    ...onlyPage,
  },
  { additionalProperties: false },
)

const TransactionList = listQuery({
  type: Type.Optional(
    Type.Unsafe<TransactionType>({ type: 'string', enum: [...transactionTypes], description: 'Only this type.' }),
  ),
  message_id: Type.Optional(
    Type.String({ minLength: 1, description: 'Only what this message was charged and refunded.' }),
  ),
  package_grant_id: Type.Optional(
    Type.String({ minLength: 1, description: 'Only what moved the credits of this package.' }),
  ),
  created_after: Type.Optional(DateTimeQuery),
  created_before: Type.Optional(DateTimeQuery),
})

const retrieveBalanceRoute = (billing: BillingService): Route =>
  route({
    operation: 'balance.retrieve',
    method: 'GET',
    path: '/v1/balance',
    scope,
    tag,
    summary: 'Retrieve the balance',
    description:
      'The prepaid wallet and the packages of the account, read fresh. Test mode is never billed: its wallet is 0 and it has no packages.',
    replies: { 200: Balance },
    errors: [],
    handler: async ({ caller, sql }) => reply(200, await billing.balance(sql, caller)),
  })

const listPricesRoute = (billing: BillingService): Route =>
  route({
    operation: 'prices.list',
    method: 'GET',
    path: '/v1/prices',
    scope,
    tag,
    summary: 'List the prices',
    description:
      'What a message costs this account on each kind of channel: its own price where it has one. One page: `has_more` is always false. In test mode every price is 0.',
    query: Type.Object(onlyPage, { additionalProperties: false }),
    replies: { 200: listOf(Price) },
    errors: [],
    handler: async ({ caller, query }) => {
      const amounts = await billing.prices.pricesOf(caller)
      return reply(
        200,
        onePage<Price & WithoutId>(
          amounts.map((price) => ({ object: 'price', ...price, unit: 'message', currency: 'USD' })),
          query,
        ),
      )
    },
  })

const retrieveUsageRoute = (billing: BillingService): Route =>
  route({
    operation: 'usage.retrieve',
    method: 'GET',
    path: '/v1/usage',
    scope,
    tag,
    summary: 'Read the usage',
    description:
      'Messages accepted, and what they cost, right to the message: it is counted in the transaction that accepts them. Newest day first; ' +
      'a day, month or channel without usage has no record. One page: `has_more` is always false. Test mode counts its messages at no cost.',
    query: UsageList,
    expensive: { narrow: 'Ask for fewer days, by `from` and `to`.' },
    replies: { 200: listOf(UsageRecord) },
    errors: [],
    handler: async ({ caller, query, sql }) =>
      reply(200, onePage<UsageRecord & WithoutId>(await billing.usage(sql, caller, query), query)),
  })

const listBalanceTransactionsRoute = (billing: BillingService): Route =>
  route({
    operation: 'balance_transactions.list',
    method: 'GET',
    path: '/v1/balance_transactions',
    scope,
    tag,
    summary: 'List the balance transactions',
    description:
      'Every movement of money and credits, newest first, in the order in which they moved the wallet: each `balance_after_micros` follows from the ' +
      'one before it. A message that cost nothing has none, and neither has test mode.',
    query: TransactionList,
    replies: { 200: listOf(BalanceTransaction) },
    errors: [],
    handler: async ({ caller, query, sql }) => {
      const page = pageOf(query)
      return reply(200, pageReply(await billing.transactions(sql, caller, query, page), page.limit))
    },
  })

export const billingRoutes = (billing: BillingService): Route[] => [
  retrieveBalanceRoute(billing),
  listPricesRoute(billing),
  retrieveUsageRoute(billing),
  listBalanceTransactionsRoute(billing),
]
