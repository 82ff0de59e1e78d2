/** `events/{id}`: an event as receivers get it. */
import { Code, Group, Stack } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { v1 } from '../../api/client.ts'
import { useRead } from '../../api/use-read.ts'
import { ApiButton } from '../../parts/api-button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Facts, Region } from '../../parts/facts.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { Screen } from '../../parts/screen.tsx'
import { useTime } from '../../parts/times.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import { text } from '../../text/en.ts'
import { objectIdOf } from './events-screen.tsx'

export function EventScreen() {
  const place = usePlace()
  const time = useTime()
  const { id } = useParams({ strict: false }) as { id: string }
  const query = useRead(place, ['events.retrieve', id], () =>
    v1(place).GET('/v1/events/{id}', { params: { path: { id } } }),
  )
  const words = text.events
  return (
    <Loaded title={words.event} query={query}>
      {(event) => {
        const object = objectIdOf(event)
        const json = JSON.stringify(event, null, 2)
        return (
          <Screen
            title={event.type}
            mode={place.mode}
            actions={<ApiButton request={{ operation: 'events.retrieve', method: 'GET', path: `/v1/events/${id}` }} />}
          >
            <Stack>
              <Region title={words.facts}>
                <Facts
                  of={[
                    [words.id, event.id],
                    [words.columns.object, object === undefined ? null : <ObjectLink key="object" id={object} />],
                    [words.columns.at, time(event.created_at)],
                  ]}
                />
                {object !== undefined && (
                  <PathLink to={pathTo(place, 'events')} search={{ object_id: object }}>
                    {words.all}
                  </PathLink>
                )}
              </Region>
              <Region title={words.event}>
                <Code block className="code" tabIndex={0} dir="ltr">
                  {json}
                </Code>
                <Group justify="flex-end" mt="xs">
                  <CopyButton value={json} />
                </Group>
              </Region>
            </Stack>
          </Screen>
        )
      }}
    </Loaded>
  )
}
