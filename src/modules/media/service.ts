/** What files mean, those that come in and those that are uploaded: announced with their message, copied at once, read by signed addresses, and after a while deleted (behaviour: channels 8). */
import type { Tenant } from '../../api/caller.ts'
import { Problem } from '../../api/problem.ts'
import { httpClient } from '../../lib/http-client.ts'
import { nameResolver } from '../../lib/name-lookup.ts'
import { hostPort } from '../../lib/public-address.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { OpenFile, Range, ServedFile } from '../../platform/http/files.ts'
import type { Platform } from '../../platform/platform.ts'
import type { InboundMessage, MediaReference } from '../../providers/provider.ts'
import type { ChannelService } from '../channels/service.ts'
import { mediaAddresses, type Addresses } from './addresses.ts'
import { folderStorage, incomingFolder } from './folder.ts'
import { s3Storage } from './s3.ts'
import { NotKept, type Storage } from './storage.ts'
import * as store from './store.ts'
import type { MediaRow, NewMedia } from './store.ts'
import { mediaPeriodicJobs, mediaInvariants } from './retention.ts'
import { uploads } from './uploads.ts'
import { mediaCopier } from './worker.ts'

export { filesOfMessages, insertMedia, type NewMedia } from './store.ts'

/** An event is delivered for two days, and read in the feed later. */
const eventAddressMs = 7 * 24 * 3600_000
const freshAddressMs = 24 * 3600_000
const filesPerMessageMax = 30
const referenceBytesMax = 4096
const retryAfterSeconds = '2'

export type MediaService = ReturnType<typeof mediaService>

export function mediaService(platform: Platform, channels: Pick<ChannelService, 'find' | 'openMedia'>) {
  const { settings, clock } = platform
  const addresses = mediaAddresses(settings.base_url, platform.secrets)
  const incoming = incomingFolder(settings.data_dir, platform.process_id)
  const folder = folderStorage(settings.data_dir)
  const bucket = bucketOf(platform)
  const storage = bucket ?? folder
  // what was kept before the setting was changed is read from where it is
  const storageOf = (name: 'folder' | 's3') => (name === 'folder' ? folder : bucket)
  const copier = mediaCopier({ platform, channels, incoming, storage })
  return {
    /** The type and content of a message that came in, with an address for each of its files; `rows` are to be stored with it. */
    announce: (tenant: Tenant, message: Announced) => announce(platform, addresses, tenant, message),
    /** The content of a message with addresses that are good for a day from now. */
    refreshed: (tenant: Tenant, content: unknown): unknown =>
      refreshed(addresses, tenant, content, clock.now() + freshAddressMs),
    /** Files that members of an account upload. */
    uploads: uploads({ platform, addresses, incoming, storage }),
    open: openFile(platform, addresses, storageOf),
    worker: copier.worker,
    periodicJobs: mediaPeriodicJobs(platform, incoming, storageOf),
    invariants: mediaInvariants(platform),
    async close() {
      await copier.stop()
      await storage.close()
    },
  }
}

function bucketOf({ settings, clock }: Platform): Storage | undefined {
  const { media_s3 } = settings
  if (media_s3 === undefined) return undefined
  const http = httpClient({ clock, resolve: nameResolver(), allowed_hosts: [hostPort(new URL(media_s3.url))] })
  return s3Storage(media_s3, http, clock)
}

export interface Announced extends Pick<InboundMessage, 'type' | 'content'> {
  readonly channel_id: string
  readonly message_id: string
  readonly media: InboundMessage['media']
}

interface Announcement extends Pick<InboundMessage, 'type' | 'content'> {
  readonly rows: NewMedia[]
}

/**
 * What providers write is data of any shape: what does not name one of the attachments is passed over. An attachment whose file cannot be fetched by what they wrote is left out, and a
 * message without any other one is `unsupported` (behaviour: messages 10.2).
 */
function announce({ ids, clock }: Platform, addresses: Addresses, tenant: Tenant, message: Announced): Announcement {
  const { type, content, channel_id, message_id } = message
  if (type !== 'attachments' || !Array.isArray(content)) return { type, content, rows: [] }
  const media: readonly unknown[] = Array.isArray(message.media) ? message.media : []
  const items: unknown[] = [...content]
  const rows = new Map<number, NewMedia>()
  const now = clock.now()
  for (const { index, reference } of media.slice(0, filesPerMessageMax).filter(isMedia)) {
    const item = items[index]
    if (!isRecord(item) || rows.has(index)) continue
    const id = ids('med')
    items[index] = { ...item, url: addresses.of(tenant, id, now + eventAddressMs) }
    rows.set(index, {
      account_id: tenant.account_id,
      mode: tenant.mode,
      id,
      channel_id,
      message_id,
      kind: typeof item['type'] === 'string' ? item['type'].slice(0, 20) : 'document',
      filename: typeof item['filename'] === 'string' ? item['filename'].slice(0, 255) : null,
      reference,
      created_at: isoTime(now),
    })
  }
  const fetchable = items.filter(hasAddress)
  if (fetchable.length > 0) return { type, content: fetchable, rows: [...rows.values()] }
  const [first] = items
  return {
    type: 'unsupported',
    content: { provider_type: isRecord(first) && typeof first['type'] === 'string' ? first['type'] : type },
    rows: [],
  }
}

const hasAddress = (item: unknown): boolean =>
  isRecord(item) && typeof item['url'] === 'string' && URL.canParse(item['url'])

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isMedia = (value: unknown): value is { index: number; reference: MediaReference } =>
  isRecord(value) &&
  Number.isInteger(value['index']) &&
  isRecord(value['reference']) &&
  Object.values(value['reference']).every((text) => typeof text === 'string') &&
  JSON.stringify(value['reference']).length <= referenceBytesMax

function refreshed(addresses: Addresses, tenant: Tenant, content: unknown, expires_ms: number): unknown {
  if (!Array.isArray(content)) return content
  return content.map((item: unknown) => {
    const url =
      isRecord(item) && typeof item['url'] === 'string' ? addresses.renewed(tenant, item['url'], expires_ms) : null
    return url === null ? item : { ...(item as object), url }
  })
}

/** Serves the file of a signed address. Problems: resource_missing, upstream_unavailable. */
function openFile(
  platform: Platform,
  addresses: Addresses,
  storageOf: (name: 'folder' | 's3') => Storage | undefined,
): OpenFile {
  return async (id, query): Promise<ServedFile> => {
    const refusal = addresses.refusal(id, query, platform.clock.now())
    if (refusal === 'unsigned')
      throw new Problem(
        'resource_missing',
        'The address is not one of ours, or was changed. Take `url` of the attachment as it is.',
      )
    if (refusal === 'expired')
      throw new Problem(
        'resource_missing',
        'The address has expired. Retrieve its message again, which shows a new one; a file that was uploaded is uploaded again.',
      )
    const row = await store.findMedia(platform.pool as Db, id)
    if (row === null)
      throw new Problem(
        'resource_missing',
        `The file was deleted ${platform.settings.media_retention_days} days after it came in.`,
      )
    if (row.status === 'failed')
      throw new Problem(
        'resource_missing',
        `The file could not be fetched from the provider. ${row.failure ?? ''} Ask its sender to send it again.`.replace(
          '  ',
          ' ',
        ),
      )
    if (row.status === 'waiting' || row.status === 'uploading')
      throw new Problem(
        'upstream_unavailable',
        'The file is still being fetched from the provider. Try again in a moment.',
        {
          headers: { 'retry-after': retryAfterSeconds },
        },
      )
    return {
      bytes: row.bytes!,
      headers: headersOf(row),
      read: (range, signal) => readFile(platform, row, storageOf(row.store!), range, signal),
    }
  }
}

async function readFile(
  platform: Platform,
  row: MediaRow,
  kept: Storage | undefined,
  range: Range,
  signal: AbortSignal,
) {
  try {
    if (kept === undefined) throw new NotKept(row.id)
    return await kept.read(row.id, range, signal)
  } catch (error) {
    platform.log.error(
      { media_id: row.id, store: row.store },
      `a file cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
    if (error instanceof NotKept)
      throw new Problem(
        'resource_missing',
        'The file is not where it was kept. The operator of this installation finds out more in the log.',
      )
    throw new Problem('upstream_unavailable', 'The storage of files cannot be reached. Try again with backoff.', {
      headers: { 'retry-after': retryAfterSeconds },
    })
  }
}

/** Shown in the browser only where nothing in it can run, and never where it was uploaded. */
function headersOf({ content_type, filename, id, message_id }: MediaRow): Record<string, string> {
  const shown = message_id !== null && /^(image|audio|video)\//.test(content_type!) && content_type !== 'image/svg+xml'
  const name = encodeURIComponent((filename ?? id).toWellFormed()).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  )
  return {
    'content-type': content_type!,
    'content-disposition': `${shown ? 'inline' : 'attachment'}; filename*=UTF-8''${name}`,
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, max-age=3600',
  }
}
