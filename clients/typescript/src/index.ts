/** The client of Posthorn: every operation of its API, retried where that is safe, and the verification of its webhooks. */
import { EventFeed } from './feed.js'
import { Resources } from './generated/resources.js'
import { type ClientOptions, Transport } from './transport.js'

/** `new Posthorn({ apiKey, baseUrl })`. Operations are named as in the reference: `posthorn.webhookEndpoints.rollSecret(id)`. */
export class Posthorn extends Resources {
  override readonly events: EventFeed

  /** Throws a `TypeError` if the key is missing or the URL is invalid. */
  constructor(options: ClientOptions) {
    const transport = new Transport(options)
    super(transport)
    this.events = new EventFeed(transport)
  }
}

export * from './errors.js'
export { isUnknownEvent, type UnknownEvent } from './events.js'
export type { FollowQuery } from './feed.js'
export type * from './generated/resources.js'
export type * from './generated/types.js'
export type * from './values.js'
export type { List, Page } from './list.js'
export type { ClientOptions, RequestOptions } from './transport.js'
export { verifyWebhook, type ReceivedHeaders, type VerifyOptions } from './webhooks.js'
