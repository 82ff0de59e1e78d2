/** What the console's first screen asks (behaviour: console 7.1). */
import { Overview } from '../../../api/resources/overview.ts'
import { reply } from '../../../platform/http/route.ts'
import { consoleRoute, type ConsoleRoute } from '../console-route.ts'
import type { ConsoleServices } from '../console-services.ts'
import { overviewOf } from './overview.ts'

export const overviewRoutes = (services: ConsoleServices): ConsoleRoute[] => [
  consoleRoute({
    operation: 'overview.retrieve',
    method: 'GET',
    path: '/console/api/overview',
    access: 'account',
    moded: true,
    scope: null,
    summary: 'Look at the last 30 days',
    description: "Messages by the days of the account's time zone, and what somebody should look at.",
    replies: { 200: Overview },
    errors: [],
    handler: async ({ caller, sql }) => reply(200, await overviewOf(services, sql, caller)),
  }),
]
