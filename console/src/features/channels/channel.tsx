/** Queries and health of channels. */
import { skipToken, useQuery, type UseQueryResult } from '@tanstack/react-query'
import { unwrap, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useApiQuery } from '../../api/use-api-query.ts'
import type { Workspace } from '../../app/paths.ts'
import { StatusLabel, type StatusKind } from '../../components/format/facts.tsx'
import { formatNumber } from '../../components/format/intl.tsx'
import { humanize, text } from '../../text/en.ts'

export type Channel = components['schemas']['Channel']
export type Template = components['schemas']['Template']

const choicesMax = 100

export const useChannel = (workspace: Workspace, id: string): UseQueryResult<Channel> =>
  useApiQuery(workspace, ['channels.retrieve', id], () =>
    v1(workspace).GET('/v1/channels/{id}', { params: { path: { id } } }),
  )

export const useChannels = (workspace: Workspace): UseQueryResult<readonly Channel[]> =>
  useQuery({
    queryKey: [workspace.account, workspace.mode, 'channels.list', 'choices'],
    queryFn: async () =>
      (await unwrap(v1(workspace).GET('/v1/channels', { params: { query: { limit: choicesMax } } }))).data,
  })

export const useTemplates = (workspace: Workspace, channel: string | undefined): UseQueryResult<readonly Template[]> =>
  useQuery({
    queryKey: [workspace.account, workspace.mode, 'channels.list_templates', channel],
    queryFn:
      channel === undefined || channel === ''
        ? skipToken
        : async () =>
            (await unwrap(v1(workspace).GET('/v1/channels/{id}/templates', { params: { path: { id: channel } } })))
              .data,
  })

export const hasTemplates = ({ capabilities }: Channel): boolean => capabilities.includes('template')

function healthOf({ status, connection_status }: Channel): { word: string; kind: StatusKind } {
  if (status !== 'active') return { word: status, kind: status === 'pending' ? 'busy' : 'off' }
  return {
    word: connection_status,
    kind: connection_status === 'connected' ? 'good' : connection_status === 'connecting' ? 'busy' : 'bad',
  }
}

export function rateOf({ settings }: Channel): string {
  const rate = settings['max_messages_per_second']
  return typeof rate === 'number' ? text.channels.rate(formatNumber(rate)) : text.channels.noRate
}

export function Health({ of }: { of: Channel }) {
  const { word, kind } = healthOf(of)
  return <StatusLabel kind={kind}>{humanize(word)}</StatusLabel>
}
