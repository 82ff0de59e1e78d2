/** Everything below `/console/api`, but for the rows of `/v1` that stand there once more. */
import { accountRoutes } from './account/routes.ts'
import { auditRoutes } from './audit/routes.ts'
import type { ConsoleRoute } from './console-route.ts'
import { identityRoutes } from './identities/routes.ts'
import { adminRoutes } from './platform-admin/routes.ts'
import { deliveryRoutes } from './deliveries/routes.ts'
import type { ConsoleServices } from './console-services.ts'
import { screenRoutes } from './screen-routes.ts'
import { credentialRoutes } from './people/credential-routes.ts'
import { linkRoutes } from './people/link-routes.ts'
import type { Resets } from './people/resets.ts'
import { keyRoutes } from './keys/routes.ts'
import { requestRoutes } from './requests/routes.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { streamRoutes } from './stream/routes.ts'
import type { Streams } from './stream/streams.ts'
import type { Sessions } from './sessions/sessions.ts'
import { addressLimit } from './sessions/sign-in.ts'
import { teamRoutes } from './team/routes.ts'
import { topUpRoutes } from './top-up-routes.ts'

export interface OperatorRoutesParts extends ConsoleServices {
  readonly sessions: Sessions
  readonly resets: Resets
  readonly streams: Streams
}

export function operatorRoutes(parts: OperatorRoutesParts): ConsoleRoute[] {
  const { platform, billing, sessions } = parts
  // each counts for itself: who opens an invitation may sign in too
  const turns = () => addressLimit(platform.clock, platform.settings.rate_limit_sign_in)
  return [
    ...sessionRoutes({ ...parts, takeTurn: turns() }),
    ...credentialRoutes({ platform, sessions, takeTurn: turns() }),
    ...linkRoutes({ ...parts, takeTurn: turns() }),
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
