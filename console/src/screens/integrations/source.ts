/** A source of events, as the screens read it. */
import type { UseQueryResult } from '@tanstack/react-query'
import { v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useRead } from '../../api/use-read.ts'
import type { Place } from '../../paths.ts'

export type Source = components['schemas']['IntegrationSource']

const sourcesMax = 100

/** Those to choose from. */
export const useSources = (place: Place): UseQueryResult<{ data: Source[] }> =>
  useRead(place, ['integration_sources.list', sourcesMax], () =>
    v1(place).GET('/v1/integration_sources', { params: { query: { limit: sourcesMax } } }),
  )

/** What is shown once: the key, and the secret that comes with it. */
export interface SourceSecrets {
  readonly id: string
  readonly source_key: string
  readonly signing_secret: string
}
