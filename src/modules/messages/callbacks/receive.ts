/** Verifies provider callbacks and stores them with their items before acknowledging them (behaviour: channels 7.3). */
import { Problem } from '../../../api/problem.ts'
import { isoTime } from '../../../lib/clock.ts'
import { transact } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CallbackResponse, Callback, CallbackItem } from '../../../providers/provider.ts'
import type { ChannelRow, ChannelService } from '../../channels/service.ts'
import type { ProviderIdCache } from '../dispatch/provider-id-cache.ts'
import { allows } from '../message.ts'
import { isOfAnother } from './matching.ts'
import { sanitizeItem } from './sanitize.ts'
import { insertCallback, insertCallbackItems } from './repository.ts'

export interface CallbackDeps {
  readonly platform: Platform
  readonly channels: ChannelService
  readonly providerIds: ProviderIdCache
}

const headersKept = /^(content-type|user-agent|x-[a-z0-9-]+)$/
/** They serve as signatures and are not stored. */
const secretHeaders = /secret|token|password|key$/

/** In any account. Throws `resource_missing` and `hook_token_invalid`. */
export async function receiveCallback(
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
  await storeCallback(deps, channel, read.items, { headers, body: callback.body, ignored: read.ignored })
  return read.response ?? acknowledged
}

async function storeCallback(
  { platform, providerIds }: Pick<CallbackDeps, 'platform' | 'providerIds'>,
  channel: ChannelRow,
  items: readonly CallbackItem[],
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
      'a provider callback was ignored, because it changes nothing',
    )
  const at = isoTime(platform.clock.now())
  const relevant = items.flatMap((item) => relevantItems(providerIds, channel, sanitizeItem(item)))
  await transact(platform.pool, async (tx) => {
    await insertCallback(tx, { id: platform.ids('req'), channel_id: channel.id, ...raw, at })
    await insertCallbackItems(
      tx,
      relevant.map((item) => ({
        id: platform.ids('req'),
        account_id: channel.account_id,
        mode: channel.mode,
        channel_id: channel.id,
        provider_id: item.kind === 'delivery_receipt' ? item.provider_id : null,
        item,
        next_run_at: at,
        created_at: at,
      })),
    )
  })
  if (relevant.length > 0) platform.notify('callbacks')
}

/**
 * None if the receipt changes nothing, since a message never returns to an earlier status. Other names of a message are
 * dropped if its provider id is known.
 */
function relevantItems(providerIds: ProviderIdCache, { id }: ChannelRow, item: CallbackItem): CallbackItem[] {
  if (item.kind !== 'delivery_receipt') return [item]
  const row = providerIds.find(id, item.provider_id)
  if (row === undefined || isOfAnother(item, row.to)) return [item]
  if (!allows(row.status, item.transition)) return []
  const { message_id: _, part: __, also_known_as: ___, addresses: ____, ...stored } = item
  return [stored]
}

export const storeSessionItems =
  (deps: Pick<CallbackDeps, 'platform' | 'providerIds'>) =>
  async (
    channel: ChannelRow,
    items: readonly CallbackItem[],
    body: Uint8Array,
    ignored: string | undefined,
  ): Promise<void> =>
    await storeCallback(deps, channel, items, { headers: {}, body, ignored })

const acknowledged: CallbackResponse = { content_type: 'text/plain; charset=utf-8', body: '' }

function handshake(answer: CallbackResponse | null): CallbackResponse {
  if (answer === null)
    throw new Problem(
      'hook_token_invalid',
      "The word of the handshake is not the channel's `verify_token`. Give the same on both sides.",
    )
  return answer
}
