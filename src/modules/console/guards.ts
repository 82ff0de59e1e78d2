/** Guards the operations of `/v1` and the console's own (behaviour: console 2.1). */
import type { Guard } from '../../platform/http/guard.ts'
import type { RateLimiter } from '../../platform/http/rate-limit.ts'
import type { Route } from '../../platform/http/route.ts'
import type { Platform } from '../../platform/platform.ts'
import { consoleRecorder } from './audit/recording.ts'
import { consoleGuard } from './guard.ts'
import type { ConsoleRoute, ConsoleServices, Entrant } from './route.ts'
import type { OperatorService } from './service.ts'
import { requireRecent } from './sign-in/sessions.ts'

export interface ConsoleGuardsParts extends ConsoleServices {
  readonly operators: OperatorService
  readonly consoleRoutes: readonly ConsoleRoute[]
  readonly limiter: RateLimiter
  readonly routes: readonly Route[]
}

export function consoleGuards({ operators, consoleRoutes, limiter, routes, ...services }: ConsoleGuardsParts): Guard[] {
  const { platform, accounts } = services
  if (routes.length === 0) return []
  const { sessions } = operators
  const isSuspended = async (account_id: string) =>
    (await accounts.stateOf(platform.pool, account_id))?.suspended ?? true
  const parts = { platform, sessions, limiter, isSuspended, recorderOf: consoleRecorder(platform) }
  return [
    consoleGuard(
      parts,
      '/console/api',
      routes
        .filter(isReachable)
        .map((route) => (route.operation === 'channels.update' ? guardingCredentials(platform, route) : route)),
    ),
    consoleGuard(parts, '', consoleRoutes),
  ]
}

/** New credentials of a channel require a recent password. */
const guardingCredentials = (platform: Platform, route: Route): Route => ({
  ...route,
  async handler(request) {
    const { credentials } = request.body as { readonly credentials?: unknown }
    if (credentials !== undefined) requireRecent(platform, (request.session as Entrant).session!)
    return await route.handler(request)
  },
})

/** The operations of API keys, except those about the key itself. */
const isReachable = (route: Route): boolean =>
  route.signedHandler === undefined && route.source_key !== true && route.operation !== 'me.retrieve'
