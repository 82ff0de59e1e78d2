/** `integrations/{id}`: a source, where it may report, and what it has reported. */
import { Stack, Text, TextInput } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { v1 } from '../../api/client.ts'
import { useRead } from '../../api/use-read.ts'
import { ApiButton } from '../../parts/api-button.tsx'
import { Facts, Region } from '../../parts/facts.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Status } from '../../parts/status.tsx'
import { useTime } from '../../parts/times.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo, type Place } from '../../paths.ts'
import { text } from '../../text/en.ts'
import { ReceiptsTable } from './receipts-table.tsx'
import { SourceActions } from './source-actions.tsx'
import type { Source } from './source.ts'

const words = text.integrations.one

export function SourceScreen() {
  const place = usePlace()
  const { id } = useParams({ strict: false }) as { id: string }
  const source = useRead(place, ['integration_sources.retrieve', id], () =>
    v1(place).GET('/v1/integration_sources/{id}', { params: { path: { id } } }),
  )
  return (
    <Loaded title={text.screens.integrations} query={source}>
      {(one) => <ShownSource place={place} source={one} />}
    </Loaded>
  )
}

function ShownSource({ place, source }: { place: Place; source: Source }) {
  const time = useTime()
  const columns = text.integrations.columns
  return (
    <Screen
      title={source.name}
      mode={place.mode}
      actions={
        <ApiButton
          request={{
            operation: 'integration_sources.retrieve',
            method: 'GET',
            path: `/v1/integration_sources/${source.id}`,
          }}
        />
      }
    >
      <Stack>
        <SourceActions place={place} source={source} />
        <Region title={words.facts}>
          <Facts
            of={[
              [words.status, <Status key="status" status={source.status} />],
              [words.id, source.id],
              [columns.platform, source.platform],
              [columns.store, source.external_id],
              [text.integrations.form.url, source.url],
              [words.version, source.plugin_version],
              [columns.last, time(source.last_event_at)],
              [words.events, source.enabled_events.length === 0 ? words.none : source.enabled_events.join(', ')],
            ]}
          />
          <PathLink to={pathTo(place, 'automations', 'new')} search={{ source: source.id }}>
            {words.automate}
          </PathLink>
        </Region>
        <Region title={words.addresses}>
          <Stack gap="sm">
            {Object.entries(source.ingest_urls).map(([platform, url]) => (
              <TextInput key={platform} label={platform} value={url} readOnly />
            ))}
            {Object.keys(source.ingest_urls).length === 0 && <Text size="sm">{words.none}</Text>}
          </Stack>
        </Region>
        <ReceiptsTable place={place} source={source.id} />
      </Stack>
    </Screen>
  )
}
