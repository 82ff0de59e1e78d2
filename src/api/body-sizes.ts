/** Limits the size of content objects and metadata (behaviour: conventions 4.7). */
import { exceededBy, type ValueBounds } from '../lib/json-size.ts'
import type { Detail } from './errors.ts'
import { limits } from './limits.ts'

const contentBounds = { bytes_max: limits.content_bytes_max, members_max: limits.content_members_max }
const metadataBounds = { bytes_max: limits.metadata_bytes_max, members_max: limits.metadata_members_max }

/** With its unknown fields. */
export const contentSizeFailures = (content: unknown, path: string): Detail[] =>
  sizeFailures(content, path, contentBounds, 'Send less in one message.')

export const metadataFailures = (metadata: unknown): Detail[] =>
  sizeFailures(metadata, 'metadata', metadataBounds, 'Store the rest in your own system, and its id here.')

function sizeFailures(value: unknown, param: string, bounds: ValueBounds, advice: string): Detail[] {
  const exceeded = exceededBy(value, bounds)
  if (exceeded === null) return []
  const [code, most] =
    exceeded === 'bytes'
      ? (['too_long', `${bounds.bytes_max / 1024} KB of JSON`] as const)
      : (['too_many', `${bounds.members_max} fields and array items in all`] as const)
  return [{ param, code, message: `\`${param}\` may have at most ${most}. ${advice}` }]
}
