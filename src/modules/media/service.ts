/** Files: inbound ones are copied from providers; all are served by signed URLs (behaviour: channels 8). */
import type { Tenant } from '../../api/caller.ts'
import { Problem } from '../../api/problem.ts'
import { httpClient } from '../../lib/http-client.ts'
import { nameResolver } from '../../lib/sockets.ts'
import { hostPort } from '../../lib/public-address.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { OpenFile, Range, ServedFile } from '../../platform/http/file-routes.ts'
import type { Platform } from '../../platform/platform.ts'
import type { InboundMessage, MediaReference } from '../../providers/provider.ts'
import type { ChannelService } from '../channels/service.ts'
import { signedUrls, type SignedUrls } from './signed-urls.ts'
import { folderStorage, incomingFolder, FileMissing, type Storage } from './storage.ts'
import { s3Storage } from './s3.ts'
import * as store from './repository.ts'
import type { MediaRow, NewMedia } from './repository.ts'
import { mediaPeriodicJobs, mediaInvariants } from './retention.ts'
import { uploads } from './uploads.ts'
import { mediaCopier } from './copies.ts'

export { filesOfMessages, insertMedia, type NewMedia } from './repository.ts'

/** Longer than the two days in which an event is delivered, for readers of the event feed. */
const eventAddressMs = 7 * 24 * 3600_000
const freshAddressMs = 24 * 3600_000
const filesPerMessageMax = 30
const referenceBytesMax = 4096
const retryAfterSeconds = '2'

export type MediaService = ReturnType<typeof mediaService>

export function mediaService(platform: Platform, channels: Pick<ChannelService, 'find' | 'openMedia'>) {
  const { settings, clock } = platform
  const addresses = signedUrls(settings.base_url, platform.secrets)
  const incoming = incomingFolder(settings.data_dir, platform.process_id)
  const folder = folderStorage(settings.data_dir)
  const bucket = bucketOf(platform)
  const storage = bucket ?? folder
  // files stored before the setting changed are still read from there
  const storageOf = (name: 'folder' | 's3') => (name === 'folder' ? folder : bucket)
  const copier = mediaCopier({ platform, channels, incoming, storage })
  return {
    /** Adds a URL for each file; `rows` must be stored with the message. */
    announce: (tenant: Tenant, message: Announced) => announce(platform, addresses, tenant, message),
    /** For a day from now. */
    refreshed: (tenant: Tenant, content: unknown): unknown =>
      refreshed(addresses, tenant, content, clock.now() + freshAddressMs),
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
 * The provider's data may have any shape. An attachment without a valid reference is dropped, and a message without
 * another one becomes `unsupported` (behaviour: messages 10.2).
 */
function announce({ ids, clock }: Platform, addresses: SignedUrls, tenant: Tenant, message: Announced): Announcement {
  const { type, content, channel_id, message_id } = message
  if (type !== 'attachments' || !Array.isArray(content)) return { type, content, rows: [] }
  const media: readonly unknown[] = Array.isArray(message.media) ? message.media : []
  const items: unknown[] = [...content]
  const rows = new Map<number, NewMedia>()
  const now = clock.now()
  for (const { index, reference } of media.slice(0, filesPerMessageMax).filter(isMediaReference)) {
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

const isMediaReference = (value: unknown): value is { index: number; reference: MediaReference } =>
  isRecord(value) &&
  Number.isInteger(value['index']) &&
  isRecord(value['reference']) &&
  Object.values(value['reference']).every((text) => typeof text === 'string') &&
  JSON.stringify(value['reference']).length <= referenceBytesMax

function refreshed(addresses: SignedUrls, tenant: Tenant, content: unknown, expires_ms: number): unknown {
  if (!Array.isArray(content)) return content
  return content.map((item: unknown) => {
    const url =
      isRecord(item) && typeof item['url'] === 'string' ? addresses.renewed(tenant, item['url'], expires_ms) : null
    return url === null ? item : { ...(item as object), url }
  })
}

/** Problems: resource_missing, upstream_unavailable. */
function openFile(
  platform: Platform,
  addresses: SignedUrls,
  storageOf: (name: 'folder' | 's3') => Storage | undefined,
): OpenFile {
  return async (id, query): Promise<ServedFile> => {
    const refusal = addresses.refusal(id, query, platform.clock.now())
    if (refusal === 'unsigned')
      throw new Problem(
        'resource_missing',
        'The address has no valid signature. Use the `url` of the attachment unchanged.',
      )
    if (refusal === 'expired')
      throw new Problem(
        'resource_missing',
        'The address has expired. Retrieve the message again for a new one; upload an uploaded file again.',
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
        `The file could not be fetched from the provider. ${row.failure ?? ''} Ask the sender to send it again.`.replace(
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
  storage: Storage | undefined,
  range: Range,
  signal: AbortSignal,
) {
  try {
    if (storage === undefined) throw new FileMissing(row.id)
    return await storage.read(row.id, range, signal)
  } catch (error) {
    platform.log.error(
      { media_id: row.id, store: row.store },
      `a file cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
    if (error instanceof FileMissing)
      throw new Problem(
        'resource_missing',
        'The file is missing in the storage. The log of this installation has details for its operator.',
      )
    throw new Problem('upstream_unavailable', 'The file storage cannot be reached. Try again with backoff.', {
      headers: { 'retry-after': retryAfterSeconds },
    })
  }
}

/** Inline only if the type cannot run code, and never for uploads. */
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
    'cache-control': 'private, max-age=3600',
  }
}
