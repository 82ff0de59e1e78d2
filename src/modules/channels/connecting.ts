/** Which provider carries a channel, and whether it takes the credentials. */
import { randomBytes } from 'node:crypto'
import { invalid, Problem } from '../../api/problem.ts'
import { channelTypes, type ChannelType } from '../../api/resources/channel.ts'
import { withDeadline, type Clock } from '../../lib/clock.ts'
import type { ProviderAdapter, Connection, Provider } from '../../providers/provider.ts'
import { wrongIdentifier } from './channel-input.ts'

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
  const provider =
    creation.provider === undefined && choices.length === 1
      ? choices[0]
      : choices.find(({ name }) => name === creation.provider)
  if (provider !== undefined) return { provider, type }
  const offered =
    choices.length === 0
      ? 'This installation has no provider for it yet; send with a test key on the sandbox channel instead.'
      : `Use one of ${choices.map(({ name }) => name).join(', ')}.`
  throw invalid(
    'provider',
    creation.provider === undefined ? 'missing_field' : 'invalid_value',
    `Name a provider that carries ${type}. ${offered}`,
  )
}

/**
 * Tries the credentials with the provider, then tells it where to call back. Resolves to the identifier of the sender.
 * `free` throws the Problem of a sender that cannot be connected; `otherSender` makes that of credentials which are those
 * of another sender than the one given; `has_session`: a process of this installation holds the channel's session, so that a provider which lets no other one
 * open is connected; `refused` is called where the provider refuses the credentials, and says what that changed. Problems: upstream_rejected, upstream_unavailable.
 */
export async function tryConnection(
  {
    clock,
    provider,
    adapter,
    otherSender = wrongSenderGiven,
    has_session = false,
    refused = changedNothing,
    takeBack = async () => undefined,
  }: {
    readonly clock: Clock
    readonly provider: Provider
    readonly adapter: ProviderAdapter
    readonly otherSender?: (provider: Provider, told: string) => Problem
    readonly has_session?: boolean
    readonly refused?: () => Promise<string>
    readonly takeBack?: (connection: Connection) => Promise<void>
  },
  connection: Connection,
  free: (identifier: string) => Promise<void>,
): Promise<string> {
  const ask = async (step: ProviderAdapter['connect'], given: Connection, onRefused = changedNothing) => {
    const answer = (await withDeadline(clock, connectTimeoutMs, async (signal) => await step?.(given, signal))) ?? {
      kind: 'connected' as const,
    }
    if (answer.kind === 'refused') throw credentialsRefused(answer.message, await onRefused())
    if (answer.kind === 'unavailable' && answer.session_limit_reached === true && has_session)
      return { kind: 'connected' as const }
    if (answer.kind === 'unavailable') throw unreachable(answer.message)
    return answer
  }
  const tried = await ask(adapter.connect?.bind(adapter), connection, refused)
  const identifier = senderOf(provider, connection, tried.identifier, otherSender)
  await free(identifier)
  const found = { ...connection, identifier }
  try {
    await ask(adapter.register?.bind(adapter), found)
  } catch (error) {
    // it may have been set up all the same, or in part
    await takeBack(found)
    throw error
  }
  return identifier
}

const changedNothing = async (): Promise<string> => 'nothing was changed'

const credentialsRefused = (message: string, changed: string): Problem =>
  new Problem(
    'upstream_rejected',
    `The provider refused the credentials: ${message} Correct them and try again; ${changed}.`,
  )

const unreachable = (message: string): Problem =>
  new Problem(
    'upstream_unavailable',
    `The provider could not be reached, so nothing was changed: ${message} Try again with backoff.`,
  )

/** The sender: what the provider says, which what was given must fit. */
function senderOf(
  provider: Provider,
  { type, identifier: given }: Connection,
  told: string | undefined,
  otherSender: (provider: Provider, told: string) => Problem,
): string {
  if (told === undefined) {
    if (given === '')
      throw invalid('identifier', 'missing_field', 'Give the identifier of the sender; this provider does not tell it.')
    return given
  }
  if (given !== '' && bare(given) !== bare(told)) throw otherSender(provider, told)
  if (wrongIdentifier(type, told).length > 0)
    throw new Problem(
      'upstream_rejected',
      `${provider.title} names ${JSON.stringify(told.slice(0, 100))} as the sender, which no ${type} channel can have.`,
    )
  return told
}

const wrongSenderGiven = ({ title }: Provider, told: string): Problem =>
  invalid(
    'identifier',
    'invalid_value',
    `${title} says that these credentials are those of ${told}. Leave \`identifier\` out, or give that one.`,
  )

/** As people write it differently: with or without the sign before it, in any case. */
const bare = (identifier: string): string => identifier.replace(/^[@+]/, '').toLowerCase()

/** What is missing of the credentials and can be made: the word that a provider says at its handshake. */
export function madeCredentials(
  provider: Provider,
  given: Readonly<Record<string, unknown>>,
): { verify_token?: string } {
  return 'verify_token' in provider.credentials.properties && given['verify_token'] === undefined
    ? { verify_token: randomBytes(24).toString('base64url') }
    : {}
}
