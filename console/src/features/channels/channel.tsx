/** A channel as the screens show it, and how it is asked for. */
import { skipToken, useQuery, type UseQueryResult } from '@tanstack/react-query'
import { answered, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useRead } from '../../api/use-api-query.ts'
import type { Place } from '../../app/paths.ts'
import { Mark, type MarkKind } from '../../components/format/facts.tsx'
import { numberOf } from '../../components/format/intl.tsx'
import { inWords, text } from '../../text/en.ts'

export type Channel = components['schemas']['Channel']
export type Template = components['schemas']['Template']

/** So many channels are asked for where one is to be chosen. */
const choicesMax = 100

export const useChannel = (place: Place, id: string): UseQueryResult<Channel> =>
  useRead(place, ['channels.retrieve', id], () => v1(place).GET('/v1/channels/{id}', { params: { path: { id } } }))

/** Those to choose from. */
export const useChannels = (place: Place): UseQueryResult<readonly Channel[]> =>
  useQuery({
    queryKey: [place.account, place.mode, 'channels.list', 'choices'],
    queryFn: async () =>
      (await answered(v1(place).GET('/v1/channels', { params: { query: { limit: choicesMax } } }))).data,
  })

export const useTemplates = (place: Place, channel: string | undefined): UseQueryResult<readonly Template[]> =>
  useQuery({
    queryKey: [place.account, place.mode, 'channels.list_templates', channel],
    queryFn:
      channel === undefined || channel === ''
        ? skipToken
        : async () =>
            (await answered(v1(place).GET('/v1/channels/{id}/templates', { params: { path: { id: channel } } }))).data,
  })

export const hasTemplates = ({ capabilities }: Channel): boolean => capabilities.includes('template')

/** How a channel is: its link to the provider while it may send, else why it may not. */
function healthOf({ status, connection_status }: Channel): { word: string; kind: MarkKind } {
  if (status !== 'active') return { word: status, kind: status === 'pending' ? 'busy' : 'off' }
  return {
    word: connection_status,
    kind: connection_status === 'connected' ? 'good' : connection_status === 'connecting' ? 'busy' : 'bad',
  }
}

export function rateOf({ settings }: Channel): string {
  const rate = settings['max_messages_per_second']
  return typeof rate === 'number' ? text.channels.rate(numberOf(rate)) : text.channels.noRate
}

/** How a channel is, in a word. */
export function Health({ of }: { of: Channel }) {
  const { word, kind } = healthOf(of)
  return <Mark kind={kind}>{inWords(word)}</Mark>
}
