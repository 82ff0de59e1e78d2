/** `POST /v1/test/inbound_messages` (behaviour: test-mode 4). */
import type { Tenant } from '../../../api/caller.ts'
import { contentSizeFailures } from '../../../api/body-sizes.ts'
import { validateInboundContent } from '../../../api/content/validate.ts'
import { isId } from '../../../api/ids.ts'
import { invalid, missing, throwFailures } from '../../../api/problem.ts'
import { inboundTypes, messageTypes } from '../../../api/resources/channel.ts'
import { didYouMean } from '../../../lib/text.ts'
import { transact, type Db } from '../../../platform/database/sql.ts'
import { withPhoneHint } from '../../accounts/service.ts'
import { isTestChannel, type ChannelRow, type ChannelService } from '../../channels/service.ts'
import { recipientFailures } from '../accept/validate.ts'
import type { MessageRow } from '../message.ts'
import { findMessage } from '../repository.ts'
import { storeInbound, type InboundDeps } from './inbound.ts'

export interface InboundRequest {
  channel: string
  from: string
  type?: string
  profile_name?: string | null
  reply_to?: string | null
  [content: string]: unknown
}

export async function simulateInbound(
  deps: InboundDeps & { channels: ChannelService },
  sql: Db,
  tenant: Tenant,
  body: InboundRequest,
): Promise<MessageRow> {
  const type = body.type ?? 'text'
  const reply_to = body.reply_to ?? null
  const channel = await checked(deps.channels, sql, tenant, body, type, reply_to)
  const { account_id, mode } = tenant
  const inbound = {
    account_id,
    mode,
    channel,
    from: body.from,
    profile_name: body.profile_name ?? null,
    type,
    content: body[type],
    reply_to,
    provider_id: null,
  }
  const { rows, replies } = await transact(sql, (tx) => storeInbound(deps, tx, [inbound]))
  deps.platform.notify('fan-out', 'dispatch')
  deps.projections.wake(replies)
  return rows[0]!
}

const simulatedTypes: readonly string[] = [...messageTypes.filter((type) => type !== 'template'), ...inboundTypes]

async function checked(
  channels: ChannelService,
  sql: Db,
  tenant: Tenant,
  body: InboundRequest,
  type: string,
  reply_to: string | null,
): Promise<ChannelRow> {
  if (!simulatedTypes.includes(type))
    throw invalid(
      'type',
      'invalid_value',
      `\`type\` must be an inbound type: text, attachments, location, contacts, ${inboundTypes.join(', ')}.${didYouMean(type, simulatedTypes)}`,
    )
  const channel = await channels.find(tenant, body.channel)
  // keys of test mode find sandbox channels only
  if (channel === null || !isTestChannel(channel)) throw await channels.missing(sql, tenant, body.channel, 'channel')
  if (reply_to !== null && (!isId('msg', reply_to) || (await findMessage(sql, tenant, reply_to)) === null))
    throw missing('message', reply_to, 'reply_to')
  const tooLarge = contentSizeFailures(body[type], type)
  const failures = [
    ...(tooLarge.length > 0 ? tooLarge : validateInboundContent(type, body[type])),
    ...recipientFailures(channel.type, body.from, 'from'),
  ]
  throwFailures(await withPhoneHint(sql, tenant, failures, 'from', body.from))
  return channel
}
