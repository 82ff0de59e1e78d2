/** Verifies and reads a shop's webhook (behaviour: integrations 4). Guide: docs/guides/adding-a-source.md. */
import type { IncomingHttpHeaders } from 'node:http'
import type { SourceEvent } from './event.ts'

export interface Webhook {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly arrived_at: number
  json(): Record<string, unknown>
}

/** null if the signature matches, else a sentence that says what to do. */
export type SignatureCheck = (webhook: Pick<Webhook, 'headers' | 'body' | 'arrived_at'>) => string | null

export interface Source {
  /** Lower case; part of the ingest address. */
  readonly platform: string
  signatureCheck(secret: string): SignatureCheck
  /** Unsigned and not stored. */
  isPing?(webhook: Pick<Webhook, 'headers' | 'body'>): boolean
  /** Called after the signature check. Throws `invalid_json`, `parameter_missing` and `parameter_invalid`. */
  read(webhook: Webhook): SourceEvent
  /** The answer leaves out `data.raw`. */
  readonly stores_payload: boolean
}
