/** Exports: all contacts as CSV that an import accepts, and one contact's record as JSON. */
import type { Readable } from 'node:stream'
import type { Tenant } from '../../../api/caller.ts'
import { limits } from '../../../api/limits.ts'
import { isId } from '../../../api/ids.ts'
import { missing } from '../../../api/problem.ts'
import { type ContactRow, foldText } from '../contact.ts'
import type { ContactExport } from '../../../api/resources/contact-export.ts'
import { isoTime } from '../../../lib/clock.ts'
import { approximateLength } from '../../../lib/json-size.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { csvStream, pageWaitMs, type CsvColumn, type CsvPage } from '../csv.ts'
import * as repository from './repository.ts'
import type { ContactQuery } from '../contact-queries.ts'
import type { ContactService } from '../service.ts'
import { findContact } from '../repository.ts'

const [rowsFirst, rowsMax] = [100, 500]

export type ExportService = ReturnType<typeof exportService>

export function exportService(platform: Platform, contacts: ContactService) {
  /** Each page is an expensive read of its own, so a slow client holds no connection. */
  async function csv(tenant: Tenant, query: ContactQuery, gone: AbortSignal): Promise<Readable> {
    const request = {
      account_id: tenant.account_id,
      gone,
      narrow: 'Export fewer contacts, by the filters of the list.',
    }
    const { columns, read, first } = await platform.reads.run(request, async (sql) => {
      const [used, keys] = [await repository.usedTypes(sql, tenant), await repository.attributeKeys(sql, tenant)]
      const reader = await contacts.reader(sql, tenant, query)
      return {
        columns: columnsOf(used, keys),
        read: reader,
        first: await reader(sql, { limit: rowsFirst, starting_after: undefined }),
      }
    })
    const next = (after: string, limit: number) =>
      platform.reads.run({ ...request, wait_ms: pageWaitMs }, (sql) => read(sql, { limit, starting_after: after }))
    const pageOf = (found: readonly ContactRow[], limit: number): CsvPage<ContactRow> => {
      const rows = found.slice(0, limit)
      const more = nextLimit(rows)
      return { rows, next: found.length > limit ? async () => pageOf(await next(rows.at(-1)!.id, more), more) : null }
    }
    return csvStream(columns, pageOf(first, rowsFirst))
  }

  async function record(sql: Db, tenant: Tenant, id: string): Promise<ContactExport> {
    const row = isId('ct', id) ? await findContact(sql, tenant, id) : null
    if (row === null) throw missing('contact', id)
    const [contact] = await contacts.contactObjects(sql, tenant, [row])
    return {
      object: 'contact_export',
      contact: contact!,
      consent_history: await repository.wholeHistory(sql, tenant, id),
      lists: await repository.listsOf(sql, tenant, id),
      rejected_import_rows: await repository.importRowsOf(
        sql,
        tenant,
        row,
        row.email === null ? null : foldText(row.email),
      ),
      exported_at: isoTime(platform.clock.now()),
    }
  }

  return { csv, record }
}

/** By the size of the contacts before: one with full attributes and metadata has 70 KB. */
const nextLimit = (rows: readonly ContactRow[]): number => {
  const characters = rows.reduce((sum, row) => sum + approximateLength(row), 1)
  return Math.max(1, Math.min(rowsMax, Math.floor((limits.claim_bytes_max * rows.length) / characters)))
}

const plain = ['phone', 'email', 'first_name', 'last_name', 'locale', 'timezone', 'country', 'external_id'] as const
const times = ['last_seen_at', 'last_message_at', 'created_at', 'updated_at'] as const

function columnsOf(
  used: Awaited<ReturnType<typeof repository.usedTypes>>,
  keys: readonly string[],
): CsvColumn<ContactRow>[] {
  return [
    { name: 'id', cell: (row) => row.id },
    ...plain.map((name): CsvColumn<ContactRow> => ({ name, cell: (row) => row[name] ?? '' })),
    { name: 'blocked', cell: (row) => String(row.blocked) },
    {
      name: 'tags',
      cell: (row) => row.tags.map((tag) => (/[;"]/.test(tag) ? `"${tag.replaceAll('"', '""')}"` : tag)).join(';'),
    },
    ...used.identifiers.map((type): CsvColumn<ContactRow> => ({
      name: `identifiers.${type}`,
      cell: (row) => row.identifiers[type] ?? '',
    })),
    ...used.consent.map((type): CsvColumn<ContactRow> => ({
      name: `consent.${type}`,
      cell: (row) => row.consent[type]?.status ?? '',
    })),
    ...used.marketing.map((type): CsvColumn<ContactRow> => ({
      name: `consent.${type}.marketing`,
      cell: (row) => row.consent[type]?.marketing ?? '',
    })),
    ...keys.map((key): CsvColumn<ContactRow> => ({
      name: `attributes.${key}`,
      cell: (row) => (Object.hasOwn(row.attributes, key) ? String(row.attributes[key]) : ''),
    })),
    { name: 'metadata', cell: (row) => (Object.keys(row.metadata).length === 0 ? '' : JSON.stringify(row.metadata)) },
    ...times.map((name): CsvColumn<ContactRow> => ({ name, cell: (row) => row[name] ?? '' })),
  ]
}
