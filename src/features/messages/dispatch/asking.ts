/** Asking providers what became of a hand-over that had no answer, before it is repeated (docs/decisions/unknown-outcomes.md). */
import type { Platform } from '../../../platform/platform.ts'
import type { Adapter, Connection, Outcome, OutboundMessage } from '../../channels/adapter.ts'

/** What the provider tells of an earlier hand-over of the message; null where it cannot tell, `unavailable` where it never had it: then it is handed over again. Never rejects. */
export async function ask(
  { metrics, log }: Pick<Platform, 'metrics' | 'log'>,
  adapter: Adapter,
  message: OutboundMessage,
  connection: Connection,
  signal: AbortSignal,
): Promise<Outcome | null> {
  const { channel_id } = connection
  try {
    const told = (await adapter.ask?.(message, connection, signal)) ?? null
    const outcome = told?.kind ?? 'not_told'
    metrics.asked.inc({ outcome })
    log.info({ message_id: message.id, channel_id, outcome }, 'a provider was asked about a hand-over that had no answer')
    return told
  } catch (error) {
    log.error({ err: error, channel_id }, 'a provider could not be asked about a message')
    return { kind: 'unknown', message: 'The provider could not be asked.' }
  }
}
