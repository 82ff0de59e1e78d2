/** `webhooks/{id}`: an endpoint, what can be done with it, and what was delivered to it. */
import { Code, Stack } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { v1 } from '../../api/client.ts'
import { useRead } from '../../api/use-read.ts'
import { ApiButton } from '../../parts/api-button.tsx'
import { Facts, Region } from '../../parts/facts.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Status } from '../../parts/status.tsx'
import { useTime } from '../../parts/times.ts'
import { usePlace } from '../../parts/use-place.ts'
import { text } from '../../text/en.ts'
import { Deliveries } from './deliveries.tsx'
import { eventsOf, type Endpoint } from './endpoint.ts'
import { EndpointActions } from './endpoint-actions.tsx'

export function EndpointScreen() {
  const place = usePlace()
  const { id } = useParams({ strict: false }) as { id: string }
  const endpoint = useRead(place, ['webhook_endpoints.retrieve', id], () =>
    v1(place).GET('/v1/webhook_endpoints/{id}', { params: { path: { id } } }),
  )
  return (
    <Loaded title={text.screens.webhooks} query={endpoint}>
      {(loaded) => (
        <Screen
          title={loaded.url}
          mode={place.mode}
          actions={
            <ApiButton
              request={{ operation: 'webhook_endpoints.retrieve', method: 'GET', path: `/v1/webhook_endpoints/${id}` }}
            />
          }
        >
          <Stack gap="lg">
            <EndpointFacts endpoint={loaded} />
            <EndpointActions endpoint={loaded} />
            <Deliveries endpoint={loaded} />
          </Stack>
        </Screen>
      )}
    </Loaded>
  )
}

function EndpointFacts({ endpoint }: { endpoint: Endpoint }) {
  const time = useTime()
  const words = text.webhooks
  const { filters, metadata, source } = endpoint
  return (
    <Region title={words.one.facts}>
      <Facts
        of={[
          [words.columns.status, <Status key="status" status={endpoint.status} />],
          [words.one.id, endpoint.id],
          [words.description, endpoint.description === '' ? null : endpoint.description],
          [words.events, eventsOf(endpoint, words.allEvents)],
          [words.filters, Object.keys(filters).length === 0 ? null : <Json key="filters" value={filters} />],
          [words.metadata, Object.keys(metadata).length === 0 ? null : <Json key="metadata" value={metadata} />],
          [words.token, endpoint.has_verification_token ? words.yes : words.no],
          [words.source, source === null ? null : <ObjectLink key="source" id={source} />],
          [words.one.createdBy, endpoint.created_by.id],
          [words.columns.createdAt, time(endpoint.created_at)],
        ]}
      />
    </Region>
  )
}

const Json = ({ value }: { value: unknown }) => <Code className="code">{JSON.stringify(value)}</Code>
