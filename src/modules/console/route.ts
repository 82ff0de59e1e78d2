/** A row of the console's own operations, below `/console/api`: as a row of `/v1`, with who may call it in the place of a scope (behaviour: console 2). */
import type { Static, TObject, TSchema } from 'typebox'
import type { ConsoleErrorCode } from '../../api/console-errors.ts'
import type { Reply, Route, RouteDefinition, RouteRequest } from '../../platform/http/route.ts'
import type { Platform } from '../../platform/platform.ts'
import type { AccountService } from '../accounts/service.ts'
import type { IntegrationService } from '../automations/service.ts'
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

/** `public`: everybody. `session`: who is signed in. `account`: a member of the account of `Service-Account`. `admin`: administrators of the platform. */
export type Access = 'public' | 'session' | 'account' | 'admin'

/** What a handler of the console is given. */
export interface ConsoleRequest<Q, B> extends Omit<RouteRequest<Q, B>, 'session'> {
  readonly session: Session
  /** Of the client, as trusted proxies tell it. */
  readonly address: string
}

export interface ConsoleFacts {
  readonly access: Access
  /** What the role must allow, in the mode that is asked for. */
  readonly permission?: Permission
  /** Its objects have a mode: `Service-Mode` is required. */
  readonly moded?: boolean
  /** Codes of the console beyond those of the guard, for the documents. */
  readonly refuses?: readonly ConsoleErrorCode[]
  /** It changes nothing that the audit log tells of, or writes its entries itself. */
  readonly unaudited?: boolean
}

export type ConsoleRoute = Route & ConsoleFacts

type Given<Q extends TObject, B extends TSchema> = Omit<RouteDefinition<Q, B>, 'handler' | 'permit' | 'tag'> &
  ConsoleFacts & {
    readonly handler: (request: ConsoleRequest<Static<Q>, Static<B>>) => Promise<Reply>
    readonly permit?: (request: ConsoleRequest<Static<Q>, Static<B>>) => void
  }

/** What the guard hands on as `session`. */
export interface Entrant {
  readonly session: Session | null
  readonly address: string
}

/** Declares a row. Its handler finds `session` filled wherever `access` is not `public`. */
export function consoleRoute<Q extends TObject, B extends TSchema>({
  handler,
  permit,
  ...given
}: Given<Q, B>): ConsoleRoute {
  const definition = {
    ...given,
    tag: 'Console',
    // nobody's key could be kept without an account
    ...(given.method === 'POST' && given.access !== 'account' ? { idempotent: 'own' } : {}),
    handler: async (request: RouteRequest<Static<Q>, Static<B>>) => await handler(withSession(request)),
    ...(permit === undefined
      ? {}
      : { permit: (request: RouteRequest<Static<Q>, Static<B>>) => permit(withSession(request)) }),
  }
  return definition as unknown as ConsoleRoute
}

function withSession<Q, B>(request: RouteRequest<Q, B>): ConsoleRequest<Q, B> {
  const { session, address } = request.session as Entrant
  const { caller, params, query, body, sql, keep, idempotency_key, arrived_at, raw } = request
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
    get signal() {
      return request.signal
    },
    // the guard has let nobody in without one, but where `access` is `public`
    session: session!,
    address,
  }
}

/** What the screens of the console look into: the services of the features to the left. */
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
  readonly integrations: IntegrationService
}
