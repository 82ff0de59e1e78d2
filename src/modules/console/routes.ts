/** All routes below `/console/api`, except those shared with `/v1`. */
import { auditRoutes } from './audit/routes.ts'
import { conversationRoutes } from './conversations/routes.ts'
import { streamRoutes } from './live/routes.ts'
import type { Streams } from './live/streams.ts'
import { credentialRoutes } from './people/credential-routes.ts'
import { linkRoutes } from './people/link-routes.ts'
import type { Resets } from './people/resets.ts'
import { adminRoutes } from './platform-admin/routes.ts'
import { requestRoutes } from './request-log/routes.ts'
import type { ConsoleRoute, ConsoleServices } from './route.ts'
import { accountRoutes } from './screens/account.ts'
import { keyRoutes } from './screens/api-keys.ts'
import { deliveryRoutes } from './screens/deliveries.ts'
import { importStepRoutes } from './screens/imports.ts'
import { mediaRoutes, previewRoutes } from './screens/message-preview.ts'
import { overviewRoutes, responseRoutes } from './screens/overview.ts'
import { searchRoutes } from './screens/search.ts'
import { topUpRoutes } from './screens/top-ups.ts'
import { identityRoutes } from './sign-in/oidc-routes.ts'
import { sessionRoutes } from './sign-in/routes.ts'
import type { Sessions } from './sign-in/sessions.ts'
import { addressLimit } from './sign-in/sign-in.ts'
import { teamRoutes } from './team/routes.ts'

export interface OperatorRoutesParts extends ConsoleServices {
  readonly sessions: Sessions
  readonly resets: Resets
  readonly streams: Streams
}

export function operatorRoutes(parts: OperatorRoutesParts): ConsoleRoute[] {
  const { platform, billing, sessions } = parts
  // separate counters: accepting an invitation must not block signing in
  const turns = () => addressLimit(platform.clock, platform.settings.rate_limit_sign_in)
  return [
    ...sessionRoutes({ ...parts, takeTurn: turns() }),
    ...credentialRoutes({ platform, sessions, takeTurn: turns() }),
    ...linkRoutes({ ...parts, takeTurn: turns(), takeResetTurn: turns() }),
    ...identityRoutes({ platform, sessions, takeTurn: turns() }),
    ...teamRoutes(platform),
    ...accountRoutes(parts),
    ...keyRoutes(platform, parts.accounts),
    ...auditRoutes,
    ...adminRoutes(parts),
    ...deliveryRoutes(parts),
    ...requestRoutes,
    ...topUpRoutes(platform, billing),
    ...screenRoutes(parts),
    ...streamRoutes(parts),
  ]
}

/** (behaviour: console 7) */
const screenRoutes = (services: ConsoleServices): ConsoleRoute[] => [
  ...overviewRoutes(services),
  ...searchRoutes(services),
  ...previewRoutes(services),
  ...conversationRoutes(services),
  ...importStepRoutes(services),
  ...mediaRoutes(services),
  ...responseRoutes(services),
]
