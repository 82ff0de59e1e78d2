/** An import: its row and its JSON. */
import type { ContactImport } from '../../../api/resources/contact-import.ts'
import { draftStatuses, type StepStatus, type StepwiseImport } from '../../../api/resources/stepwise-import.ts'
import { understood } from './columns.ts'

export function importObject(row: ContactImportRow): ContactImport {
  const {
    id,
    mode,
    file_name,
    default_country,
    consent_declared,
    bytes,
    total,
    created,
    updated,
    rejected,
    warnings,
    error,
  } = row
  return {
    id,
    object: 'contact_import',
    mode,
    status: row.status,
    file_name,
    columns: row.header.map((name, at) => ({ name, field: row.columns[at] ?? null })),
    default_country,
    consent_declared,
    bytes,
    total,
    processed: created + updated + rejected,
    created,
    updated,
    rejected,
    warnings,
    error,
    created_at: row.created_at,
    updated_at: row.updated_at,
    started_at: row.started_at,
    completed_at: row.completed_at,
  }
}

const isDraft = (status: string): boolean => (draftStatuses as readonly string[]).includes(status)

export function stepwiseObject(row: ContactImportRow): StepwiseImport {
  const shown = importObject(row)
  const status = row.status as StepStatus
  if (!isDraft(status))
    return { ...shown, status, columns: shown.columns.map((column) => ({ ...column, understood: true })) }
  const fields = understood(row.header, row.mapping)
  const columns = row.header.map((name, at) => ({
    name,
    field: fields[at] ?? null,
    understood: fields[at] !== undefined,
  }))
  return { ...shown, status, columns, processed: 0 }
}

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
  mapping: Record<string, string | null>
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
