/** The row of an import as every part of it reads it. */
import type { StepStatus } from '../../../api/resources/stepwise-import.ts'

/** A row of `contact_imports`. */
export interface ContactImportRow {
  account_id: `acc_${string}`
  mode: 'live' | 'test'
  id: string
  status: StepStatus | 'uploading'
  file_name: string | null
  request_id: string
  consent_declared: boolean
  default_country: string | null
  delimiter: string
  header: string[]
  columns: (string | null)[]
  /** What was said of columns, by their headers. */
  chosen: Record<string, string | null>
  bytes: number
  total: number
  created: number
  updated: number
  rejected: number
  warnings: number
  error: { code: string; message: string } | null
  created_at: string
  updated_at: string
  started_at: string | null
  completed_at: string | null
}
