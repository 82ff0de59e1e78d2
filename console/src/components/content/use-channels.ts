/** The channels of a workspace, for pickers. */
import { v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useApiQuery } from '../../api/use-api-query.ts'
import type { Workspace } from '../../app/paths.ts'
import type { Choice } from '../form/fields.tsx'

type Channel = components['schemas']['Channel']

const channelsMax = 100

export interface Channels {
  readonly all: readonly Channel[]
  readonly choices: readonly Choice[]
  readonly isPending: boolean
}

export function useChannels(workspace: Workspace): Channels {
  const read = useApiQuery(workspace, ['channels.list', channelsMax], () =>
    v1(workspace).GET('/v1/channels', { params: { query: { limit: channelsMax } } }),
  )
  const all = read.data?.data ?? []
  return {
    all,
    choices: all.map(({ id, name, identifier }) => ({ value: id, label: `${name} (${identifier})` })),
    isPending: read.isPending,
  }
}
