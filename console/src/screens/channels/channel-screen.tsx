/** `channels/{id}`: a channel, what is given to its provider, and what can be done with it. */
import { Stack } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import { useBecause } from '../../api/may.ts'
import { problemOf } from '../../api/problem.ts'
import { useAction } from '../../api/use-action.ts'
import { useStale } from '../../api/use-stale.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ApiButton } from '../../parts/api-button.tsx'
import { DeleteButton } from '../../parts/delete-button.tsx'
import { Done } from '../../parts/done.tsx'
import { Facts, Region } from '../../parts/facts.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Screen } from '../../parts/screen.tsx'
import { NotFound, Waiting } from '../../parts/states.tsx'
import { useTime } from '../../parts/times.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo, type Place } from '../../paths.ts'
import { text } from '../../text/en.ts'
import { ChangeChannelDialog } from './change-channel-dialog.tsx'
import { hasTemplates, rateOf, useChannel, type Channel } from './channel.ts'
import { Health } from './health.tsx'
import { ConnectedPanel } from './connected-panel.tsx'

const { channels: words } = text

export function ChannelScreen() {
  const place = usePlace()
  const { id } = useParams({ strict: false }) as { id: string }
  const query = useChannel(place, id)
  if (query.data === undefined) {
    if (query.error === null) return <Waiting />
    const problem = problemOf(query.error)
    return problem.code === 'resource_missing' ? (
      <NotFound />
    ) : (
      <ProblemAlert problem={problem} onAgain={() => void query.refetch()} />
    )
  }
  return <ShownChannel place={place} channel={query.data} />
}

function ShownChannel({ place, channel }: { place: Place; channel: Channel }) {
  const time = useTime()
  const isSandbox = place.mode === 'test'
  return (
    <Screen
      title={channel.name}
      mode={place.mode}
      actions={
        <ApiButton request={{ operation: 'channels.retrieve', method: 'GET', path: `/v1/channels/${channel.id}` }} />
      }
    >
      <Stack>
        <Region title={words.one.facts}>
          <Facts
            of={[
              [words.columns.health, <Health key="health" of={channel} />],
              [words.one.id, channel.id],
              [words.columns.type, channel.type],
              [words.columns.provider, channel.provider],
              [words.columns.identifier, channel.identifier],
              [words.columns.rate, rateOf(channel)],
              [words.one.carries, channel.capabilities.join(', ')],
              [words.one.createdAt, isSandbox ? null : time(channel.created_at)],
            ]}
          />
          {hasTemplates(channel) && (
            <PathLink to={pathTo(place, 'templates')} search={{ channel: channel.id }}>
              {words.one.templates}
            </PathLink>
          )}
        </Region>
        <ChannelActions place={place} channel={channel} />
        <ConnectedPanel place={place} channel={channel} />
      </Stack>
    </Screen>
  )
}

function ChannelActions({ place, channel }: { place: Place; channel: Channel }) {
  const stale = useStale(place)
  const [isChanging, setChanging] = useState(false)
  const [done, setDone] = useState('')
  const allowed = useBecause(place)
  const notYours = allowed('channels:write')
  const because = place.mode === 'test' ? words.one.sandbox : notYours
  const notReconnected = place.mode === 'test' ? words.one.sandbox : allowed('channels:write', 'channels.reconnect')
  const path = { id: channel.id }
  const fresh = (said: string) => {
    setDone(said)
    return stale('channels.')
  }
  const reconnect = useAction(
    (id: string, key) =>
      answered(
        v1(place).POST('/v1/channels/{id}/reconnect', {
          params: { path: { id } },
          headers: { 'Idempotency-Key': key },
        }),
      ),
    () => fresh(words.one.reconnected),
  )
  const enabling = useAction(
    (status: 'active' | 'disabled') =>
      answered(v1(place).PATCH('/v1/channels/{id}', { params: { path }, body: { status } })),
    () => fresh(words.one.saved),
  )
  const problem = reconnect.problem ?? enabling.problem
  const isOff = channel.status === 'disabled'
  return (
    <div>
      <div className="actions">
        <ActionButton
          label={words.one.reconnect}
          variant="default"
          because={notReconnected}
          loading={reconnect.isRunning}
          onPress={() => reconnect.run(channel.id)}
        />
        <ActionButton label={words.one.edit} variant="default" because={because} onPress={() => setChanging(true)} />
        <ActionButton
          label={isOff ? words.one.enable : words.one.disable}
          variant="default"
          because={because}
          loading={enabling.isRunning}
          onPress={() => enabling.run(isOff ? 'active' : 'disabled')}
        />
        <DeleteChannel place={place} channel={channel} because={because} />
      </div>
      {problem !== undefined && <ProblemAlert problem={problem} />}
      <Done text={done} />
      {isChanging && (
        <ChangeChannelDialog
          place={place}
          channel={channel}
          onClose={() => setChanging(false)}
          onSaved={() => {
            setChanging(false)
            return fresh(words.one.saved)
          }}
        />
      )}
    </div>
  )
}

const DeleteChannel = ({
  place,
  channel,
  because,
}: {
  place: Place
  channel: Channel
  because: string | undefined
}) => (
  <DeleteButton
    place={place}
    id={channel.id}
    words={{ delete: words.one.delete, deleteWhy: words.one.deleteWhy(channel.name) }}
    because={because}
    remove={(id) => v1(place).DELETE('/v1/channels/{id}', { params: { path: { id } } })}
    section="channels"
    stale={['channels.list']}
  />
)
