/** Rows of segments, and how the API shows them. */
import type { Segment } from '../../../api/resources/segment.ts'

/** A row of `segments`. */
export interface SegmentRow extends Omit<Segment, 'object' | 'mode'> {
  account_id: string
  mode: 'live' | 'test'
}

/** The Segment of a row, as the API shows it. */
export function segmentObject(row: SegmentRow): Segment {
  const { id, mode, name, description, created_at, updated_at } = row
  return { id, object: 'segment', mode, name, description, rules: row.rules, created_at, updated_at }
}
