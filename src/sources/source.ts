/** The interface of a source: how the webhook of a shop or site is verified and read (behaviour: integrations 4). Guide: docs/guides/adding-a-source.md. */
import type { IncomingHttpHeaders } from 'node:http'
import type { SourceEvent } from './event.ts'

export interface Webhook {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** Milliseconds since 1970. */
  readonly arrived_at: number
  /** The body as a JSON object, checked as strictly as the body of an API request. Throws `invalid_json` and `parameter_invalid`. */
  json(): Record<string, unknown>
}

/** Resolves to null where the signature fits the body, else to a sentence that says what to do. */
export type SignatureCheck = (webhook: Pick<Webhook, 'headers' | 'body' | 'arrived_at'>) => string | null

export interface Source {
  /** The `platform` of its integration sources, and the part of the ingest address: lower case. */
  readonly platform: string
  /** The check of signatures made with this secret; kept for many webhooks. */
  signatureCheck(secret: string): SignatureCheck
  /** Whether the platform only tests the address. Asked before the signature is checked; nothing is stored. */
  isPing?(webhook: Pick<Webhook, 'headers' | 'body'>): boolean
  /** Reads a webhook whose signature is valid. Throws `invalid_json`, `parameter_missing` and `parameter_invalid`. */
  read(webhook: Webhook): SourceEvent
  /** `data.raw` is the payload as it was sent. The sender has it already, so the answer leaves it out. */
  readonly stores_payload: boolean
}
