/** Which provider carries a channel, and whether it takes the credentials. */
import { invalid, Problem } from '../../contract/problem.ts'
import { channelTypes, type ChannelType } from '../../contract/resources/channel.ts'
import { withDeadline, type Clock } from '../../lib/clock.ts'
import type { Adapter, Connection, Provider } from './adapter.ts'

/** How long a provider may take to answer. */
export const connectTimeoutMs = 20_000

/** The provider that a creation means; Problem `parameter_invalid` where there is none, or more than one to choose from. */
export function chooseProvider(
  creation: { readonly type: string; readonly provider?: string },
  connectable: (type: ChannelType) => readonly Provider[],
): { provider: Provider; type: ChannelType } {
  const type = channelTypes.find((candidate) => candidate === creation.type)
  if (type === undefined)
    throw invalid(
      'type',
      'invalid_value',
      `The channel type ${JSON.stringify(creation.type.slice(0, 40))} is not built. Use one of ${channelTypes.join(', ')}.`,
    )
  const choices = connectable(type)
  const provider = creation.provider === undefined && choices.length === 1 ? choices[0] : choices.find(({ name }) => name === creation.provider)
  if (provider !== undefined) return { provider, type }
  const offered =
    choices.length === 0
      ? 'This installation has no provider for it yet; send with a test key on the sandbox channel instead.'
      : `Use one of ${choices.map(({ name }) => name).join(', ')}.`
  throw invalid('provider', creation.provider === undefined ? 'missing_field' : 'invalid_value', `Name a provider that carries ${type}. ${offered}`)
}

/**
 * Tries the credentials with the provider; resolves to the identifier of the sender, and to what the provider's code keeps besides the
 * credentials. Problems: upstream_rejected, upstream_unavailable.
 */
export async function tryConnection(
  clock: Clock,
  adapter: Adapter,
  connection: Connection,
): Promise<{ identifier: string; credentials: Readonly<Record<string, unknown>> }> {
  const answer = (await withDeadline(clock, connectTimeoutMs, async (signal) => await adapter.connect?.(connection, signal))) ?? { kind: 'connected' as const }
  if (answer.kind === 'refused') throw new Problem('upstream_rejected', `The provider refused the credentials: ${answer.message}`)
  if (answer.kind === 'unavailable')
    throw new Problem('upstream_unavailable', `The provider could not be reached, so nothing was changed: ${answer.message} Try again with backoff.`)
  const { identifier: confirmed, credentials } = answer.kind === 'connected' ? answer : {}
  const identifier = connection.identifier === '' ? confirmed : connection.identifier
  if (identifier === undefined) throw invalid('identifier', 'missing_field', 'Give the identifier of the sender; this provider does not tell it.')
  return { identifier, credentials: credentials ?? {} }
}
