/**
 * Receives provider callbacks: verifies them, stores them raw together with the items read from them, and only then
 * acknowledges (behaviour: channels 7.3).
 */
import { Problem } from '../../../api/problem.ts'
import { isoTime } from '../../../lib/clock.ts'
import { transact } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CallbackResponse, Callback, CallbackItem } from '../../../providers/provider.ts'
import type { ChannelRow, ChannelService } from '../../channels/service.ts'
import type { ProviderIdCache } from '../dispatch/recent-sends.ts'
import { allows } from '../message.ts'
import { isOfAnother } from './matching.ts'
import { sanitiseReport } from './sanitize.ts'
import { insertCallback, storeReports } from './repository.ts'

export interface CallbackDeps {
  readonly platform: Platform
  readonly channels: ChannelService
  readonly providerIds: ProviderIdCache
}

const headersKept = /^(content-type|user-agent|x-[a-z0-9-]+)$/
/** Headers that serve as a signature are stored only with the channel, encrypted. */
const secretHeaders = /secret|token|password|key$/

/**
 * Receives one callback of the channel with this id, in whatever account, or its provider's handshake. Resolves to the
 * answer. Problems: resource_missing, hook_token_invalid.
 */
export async function takeCallback(
  deps: CallbackDeps,
  channel_id: string,
  call: Omit<Callback, 'body' | 'url'> & { readonly path: string },
  readBody: () => Promise<Uint8Array>,
): Promise<CallbackResponse> {
  const { platform, channels } = deps
  const channel = await channels.findForCallback(channel_id)
  const adapter = channel === null ? undefined : channels.adapterOf(channel)
  if (channel === null || adapter === undefined || (adapter.receiveCallback ?? adapter.handshake) === undefined)
    throw new Problem(
      'resource_missing',
      'No channel takes callbacks at this address. Copy `webhook_url` of the channel again.',
    )
  const { path, ...rest } = call
  const callback: Callback = { ...rest, url: `${platform.settings.base_url}${path}`, body: await readBody() }
  const connection = channels.connection(channel)
  if (call.method === 'GET' && adapter.handshake !== undefined)
    return handshake(adapter.handshake(callback, connection))
  const read = adapter.receiveCallback?.(callback, connection) ?? null
  if (read === null)
    throw new Problem(
      'hook_token_invalid',
      "The callback's signature does not fit the channel's credentials. Check the secret on both sides.",
    )
  const headers = Object.fromEntries(
    Object.entries(callback.headers).filter(([name]) => headersKept.test(name) && !secretHeaders.test(name)),
  )
  await keepReports(deps, channel, read.items, { headers, body: callback.body, ignored: read.ignored })
  return read.response ?? acknowledged
}

/** Stores a callback and its items in one transaction. Once it resolves, the provider may be acknowledged. */
async function keepReports(
  { platform, providerIds }: Pick<CallbackDeps, 'platform' | 'providerIds'>,
  channel: ChannelRow,
  reports: readonly CallbackItem[],
  {
    ignored,
    ...raw
  }: {
    readonly headers: Readonly<Record<string, string>>
    readonly body: Uint8Array
    readonly ignored: string | undefined
  },
): Promise<void> {
  if (ignored !== undefined)
    platform.log.info(
      { channel_id: channel.id, provider: channel.provider, ignored },
      'a provider told something that changes nothing',
    )
  const at = isoTime(platform.clock.now())
  const news = reports.flatMap((report) => newsOf(providerIds, channel, sanitiseReport(report)))
  await transact(platform.pool, async (tx) => {
    await insertCallback(tx, { id: platform.ids('req'), channel_id: channel.id, ...raw, at })
    await storeReports(
      tx,
      news.map((report) => ({
        id: platform.ids('req'),
        account_id: channel.account_id,
        mode: channel.mode,
        channel_id: channel.id,
        provider_id: report.kind === 'delivery_receipt' ? report.provider_id : null,
        report,
        next_run_at: at,
        created_at: at,
      })),
    )
  })
  if (news.length > 0) platform.notify('reports')
}

/**
 * The report as it is kept, none where it is a receipt that changes nothing, as the one that a message was sent which its provider has just taken: this process remembers how the message
 * was written, and it never goes back to a status in which the receipt would have changed something. Where the provider's id is known, what else the receipt names its message by is not kept.
 */
function newsOf(providerIds: ProviderIdCache, { id }: ChannelRow, report: CallbackItem): CallbackItem[] {
  if (report.kind !== 'delivery_receipt') return [report]
  const row = providerIds.find(id, report.provider_id)
  if (row === undefined || isOfAnother(report, row.to)) return [report]
  if (!allows(row.status, report.transition)) return []
  const { message_id: _, part: __, also_known_as: ___, addresses: ____, ...kept } = report
  return [kept]
}

/** Stores what a provider reports on a session. */
export const keepTold =
  (deps: Pick<CallbackDeps, 'platform' | 'providerIds'>) =>
  async (
    channel: ChannelRow,
    reports: readonly CallbackItem[],
    body: Uint8Array,
    ignored: string | undefined,
  ): Promise<void> =>
    await keepReports(deps, channel, reports, { headers: {}, body, ignored })

const acknowledged: CallbackResponse = { content_type: 'text/plain; charset=utf-8', body: '' }

function handshake(answer: CallbackResponse | null): CallbackResponse {
  if (answer === null)
    throw new Problem(
      'hook_token_invalid',
      "The word of the handshake is not the channel's `verify_token`. Give the same on both sides.",
    )
  return answer
}
