/** Selects the provider of a channel and tests its credentials. */
import { randomBytes } from 'node:crypto'
import { invalid, Problem } from '../../api/problem.ts'
import { channelTypes, type ChannelType } from '../../api/resources/channel.ts'
import { withDeadline, type Clock } from '../../lib/clock.ts'
import type { ProviderAdapter, Connection, Provider } from '../../providers/provider.ts'
import { wrongIdentifier } from './validation.ts'

export const connectTimeoutMs = 20_000

/** Problem `parameter_invalid` if there is none, or several to choose from. */
export function chooseProvider(
  creation: { readonly type: string; readonly provider?: string },
  connectable: (type: ChannelType) => readonly Provider[],
): { provider: Provider; type: ChannelType } {
  const type = channelTypes.find((candidate) => candidate === creation.type)
  if (type === undefined)
    throw invalid(
      'type',
      'invalid_value',
      `The channel type ${JSON.stringify(creation.type.slice(0, 40))} is not supported. Use one of ${channelTypes.join(', ')}.`,
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
    `Give a provider for ${type}. ${offered}`,
  )
}

/**
 * Tests the credentials, then registers the callback address. Resolves to the identifier of the sender. `free` throws
 * if the sender cannot be connected. `has_session`: a process has the channel's session, so a provider that allows no
 * second one counts as connected. `refused` is called if the provider refuses, and returns the consequence in words.
 * `undo` removes a registration that failed halfway. Problems: upstream_rejected, upstream_unavailable.
 */
export async function testCredentials(
  {
    clock,
    provider,
    adapter,
    otherSender = wrongSenderGiven,
    has_session = false,
    refused = changedNothing,
    undo = async () => undefined,
  }: {
    readonly clock: Clock
    readonly provider: Provider
    readonly adapter: ProviderAdapter
    readonly otherSender?: (provider: Provider, reported: string) => Problem
    readonly has_session?: boolean
    readonly refused?: () => Promise<string>
    readonly undo?: (connection: Connection) => Promise<void>
  },
  connection: Connection,
  free: (identifier: string) => Promise<void>,
): Promise<string> {
  const call = async (step: ProviderAdapter['connect'], to: Connection, onRefused = changedNothing) => {
    const answer = (await withDeadline(clock, connectTimeoutMs, async (signal) => await step?.(to, signal))) ?? {
      kind: 'connected' as const,
    }
    if (answer.kind === 'refused') throw credentialsRefused(answer.message, await onRefused())
    if (answer.kind === 'unavailable' && answer.session_limit_reached === true && has_session)
      return { kind: 'connected' as const }
    if (answer.kind === 'unavailable') throw unreachable(answer.message)
    return answer
  }
  const tested = await call(adapter.connect?.bind(adapter), connection, refused)
  const identifier = senderOf(provider, connection, tested.identifier, otherSender)
  await free(identifier)
  const found = { ...connection, identifier }
  try {
    await call(adapter.register?.bind(adapter), found)
  } catch (error) {
    // it may have been registered all the same, or in part
    await undo(found)
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

/** Reported by the provider, or requested. They must match if both exist. */
function senderOf(
  provider: Provider,
  { type, identifier }: Connection,
  reported: string | undefined,
  otherSender: (provider: Provider, reported: string) => Problem,
): string {
  if (reported === undefined) {
    if (identifier === '')
      throw invalid(
        'identifier',
        'missing_field',
        'Give the identifier of the sender; this provider does not report it.',
      )
    return identifier
  }
  if (identifier !== '' && normalizedIdentifier(identifier) !== normalizedIdentifier(reported))
    throw otherSender(provider, reported)
  if (wrongIdentifier(type, reported).length > 0)
    throw new Problem(
      'upstream_rejected',
      `${provider.title} reports the sender ${JSON.stringify(reported.slice(0, 100))}, which is not a valid ${type} sender.`,
    )
  return reported
}

const wrongSenderGiven = ({ title }: Provider, reported: string): Problem =>
  invalid(
    'identifier',
    'invalid_value',
    `${title} reports that these credentials belong to ${reported}. Leave \`identifier\` out, or give that one.`,
  )

const normalizedIdentifier = (identifier: string): string => identifier.replace(/^[@+]/, '').toLowerCase()

export function generatedCredentials(
  provider: Provider,
  credentials: Readonly<Record<string, unknown>>,
): { verify_token?: string } {
  return 'verify_token' in provider.credentials.properties && credentials['verify_token'] === undefined
    ? { verify_token: randomBytes(24).toString('base64url') }
    : {}
}
