/** `channels/new`: connects a channel with a provider, of which the server says what it asks for. */
import { useState } from 'react'
import { Text } from '@mantine/core'
import { answered, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useAction } from '../../api/use-action.ts'
import { useStale } from '../../api/use-stale.ts'
import { ApiButton } from '../../parts/api-button.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { Screen } from '../../parts/screen.tsx'
import { useDraft } from '../../parts/use-draft.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import { text } from '../../text/en.ts'
import { ConnectedPanel } from './connected-panel.tsx'
import { ConnectForm } from './connect-form.tsx'
import { creationOf, emptyDraft, withoutSecrets, type ChannelCreation, type ConnectDraft } from './connect-draft.ts'

export function ConnectChannelScreen() {
  const place = usePlace()
  const stale = useStale(place)
  const [kept, keep, forget] = useDraft<ConnectDraft>(place, 'channel', emptyDraft)
  // secrets are kept nowhere
  const [draft, setDraft] = useState(kept)
  const [connected, setConnected] = useState<components['schemas']['ConnectedChannel']>()
  const action = useAction(
    (body: ChannelCreation, key) =>
      answered(v1(place).POST('/v1/channels', { body, headers: { 'Idempotency-Key': key } })),
    (channel) => {
      forget()
      setConnected(channel)
      return stale('channels.')
    },
  )
  const change = (next: ConnectDraft) => {
    setDraft(next)
    keep(withoutSecrets(next))
  }
  const words = text.channels
  const shown = creationOf(withoutSecrets(draft))
  return (
    <Screen
      title={words.connect}
      mode={place.mode}
      actions={
        <ApiButton request={{ operation: 'channels.create', method: 'POST', path: '/v1/channels', body: shown }} />
      }
    >
      {place.mode === 'test' ? (
        <Text>
          {words.liveOnly}{' '}
          <PathLink to={pathTo({ ...place, mode: 'live' }, 'channels', 'new')}>{words.goLive}</PathLink>
        </Text>
      ) : connected === undefined ? (
        <ConnectForm
          draft={draft}
          onChange={change}
          onSubmit={() => action.run(creationOf(draft))}
          problem={action.problem}
          isRunning={action.isRunning}
        />
      ) : (
        <ConnectedPanel place={place} channel={connected} verify_token={connected.verify_token} isNew />
      )}
    </Screen>
  )
}
