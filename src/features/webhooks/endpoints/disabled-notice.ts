/** The e-mail that tells the owner of a disabled endpoint (behaviour: webhooks 4). */
import type { Db } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { writeEmail } from '../../mail/service.ts'
import type { EndpointRow } from './store.ts'

export async function disabledNotice(sql: Db, platform: Platform, row: EndpointRow, failures: number): Promise<void> {
  const subject = `A webhook endpoint was disabled: ${new URL(row.url).host}`
  const body = [
    `The webhook endpoint ${row.id} (${row.mode} mode) failed ${failures} times in a row and was disabled.`,
    '',
    `URL: ${row.url}`,
    `Events: ${row.events.join(', ')}`,
    '',
    'Nothing more is sent to it. Events that happen while it is disabled are not sent later; read them with GET /v1/events.',
    `To enable it again: PATCH ${platform.settings.base_url}/v1/webhook_endpoints/${row.id} with {"status": "active"}.`,
    `Its latest deliveries and their errors: GET ${platform.settings.base_url}/v1/webhook_endpoints/${row.id}/deliveries.`,
    '',
  ].join('\n')
  await writeEmail(sql, platform, { account_id: row.account_id, subject, body })
}
