/** Declares the console's own operations, which have an access level instead of a scope (behaviour: console 2). */
import type { Static, TObject, TSchema } from 'typebox'
import type { ConsoleErrorCode } from '../../api/console-errors.ts'
import type { Reply, Route, RouteDefinition, RouteRequest } from '../../platform/http/route.ts'
import type { Platform } from '../../platform/platform.ts'
import type { AccountService } from '../accounts/service.ts'
import type { AutomationServices } from '../automations/service.ts'
import type { BillingService } from '../billing/service.ts'
import type { CampaignService } from '../campaigns/service.ts'
import type { ChannelService } from '../channels/service.ts'
import type { ImportService } from '../contacts/imports/service.ts'
import type { ContactService } from '../contacts/service.ts'
import type { MediaService } from '../media/service.ts'
import type { MessageService } from '../messages/service.ts'
import type { FeedService } from '../webhooks/feed/service.ts'
import type { WebhookService } from '../webhooks/service.ts'
import type { Permission } from './roles.ts'
import type { Session } from './sign-in/sessions.ts'

/** `account`: members of the account in `Service-Account`. `admin`: platform administrators. */
export type Access = 'public' | 'session' | 'account' | 'admin'

export interface ConsoleRequest<Q, B> extends Omit<RouteRequest<Q, B>, 'session'> {
  readonly session: Session
  readonly address: string
}

export interface ConsoleFacts {
  readonly access: Access
  readonly permission?: Permission
  /** `Service-Mode` is required, because the objects have a mode. */
  readonly moded?: boolean
  readonly refuses?: readonly ConsoleErrorCode[]
  /** Changes nothing that is audited, or writes its own entries. */
  readonly unaudited?: boolean
}

export type ConsoleRoute = Route & ConsoleFacts

type Given<Q extends TObject, B extends TSchema> = Omit<
  RouteDefinition<Q, B>,
  'handler' | 'permit' | 'authorize' | 'tag'
> &
  ConsoleFacts & {
    readonly handler: (request: ConsoleRequest<Static<Q>, Static<B>>) => Promise<Reply>
    readonly permit?: (request: ConsoleRequest<Static<Q>, Static<B>>) => void
    readonly authorize?: (request: ConsoleRequest<unknown, Readonly<Record<string, unknown>>>) => void
  }

export interface Entrant {
  readonly session: Session | null
  readonly address: string
}

export function consoleRoute<Q extends TObject, B extends TSchema>({
  handler,
  permit,
  authorize,
  ...declaration
}: Given<Q, B>): ConsoleRoute {
  const definition = {
    ...declaration,
    tag: 'Console',
    // without an account there is nowhere to store a key
    ...(declaration.method === 'POST' && declaration.access !== 'account' ? { idempotent: 'own' } : {}),
    handler: async (request: RouteRequest<Static<Q>, Static<B>>) => await handler(withSession(request)),
    ...(permit === undefined
      ? {}
      : { permit: (request: RouteRequest<Static<Q>, Static<B>>) => permit(withSession(request)) }),
    ...(authorize === undefined
      ? {}
      : {
          authorize: (request: RouteRequest<unknown, Readonly<Record<string, unknown>>>) =>
            authorize(withSession(request)),
        }),
  }
  return definition as unknown as ConsoleRoute
}

function withSession<Q, B>(request: RouteRequest<Q, B>): ConsoleRequest<Q, B> {
  const { session, address } = request.session as Entrant
  const { caller, params, query, body, sql, keep, idempotency_key, arrived_at, raw, bodyChecked } = request
  return {
    caller,
    params,
    query,
    body,
    sql,
    keep,
    idempotency_key,
    arrived_at,
    raw,
    bodyChecked,
    get signal() {
      return request.signal
    },
    // the guard requires a session unless `access` is `public`
    session: session!,
    address,
  }
}

export interface ConsoleServices {
  readonly platform: Platform
  readonly accounts: AccountService
  readonly billing: BillingService
  readonly channels: ChannelService
  readonly contacts: ContactService
  readonly imports: ImportService
  readonly media: MediaService
  readonly messages: MessageService
  readonly webhooks: WebhookService
  readonly feed: FeedService
  readonly campaigns: CampaignService
  readonly automations: AutomationServices
}
