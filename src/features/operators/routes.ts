/** Everything below `/console/api`, but for the rows of `/v1` that stand there once more. */
import type { BillingService } from '../billing/service.ts'
import type { AccountService } from '../accounts/service.ts'
import type { Platform } from '../../platform/platform.ts'
import type { ConsoleRoute } from './console-route.ts'
import { requestRoutes } from './requests/routes.ts'
import { sessionRoutes } from './sessions/routes.ts'
import type { Sessions } from './sessions/sessions.ts'
import { topUpRoutes } from './top-up-routes.ts'

export interface OperatorRoutesParts {
  readonly platform: Platform
  readonly accounts: AccountService
  readonly billing: BillingService
  readonly sessions: Sessions
}

export const operatorRoutes = (parts: OperatorRoutesParts): ConsoleRoute[] => [
  ...sessionRoutes(parts),
  ...requestRoutes,
  ...topUpRoutes(parts.platform, parts.billing),
]
