/** The API keys of the mode: made, shown once, revoked. */
import { Group } from '@mantine/core'
import { useState } from 'react'
import { answered, own } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { useBecause } from '../../api/may.ts'
import { useAction } from '../../api/use-action.ts'
import { listQuery, useRead } from '../../api/use-read.ts'
import { useStale } from '../../api/use-stale.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Done } from '../../parts/done.tsx'
import { InnerList } from '../../parts/inner-list.tsx'
import type { Column } from '../../parts/list-table.tsx'
import { SecretDialog } from '../../parts/secret-dialog.tsx'
import { useTime } from '../../parts/times.ts'
import { useCursorOf } from '../../parts/use-cursor.ts'
import { usePlace } from '../../parts/use-place.ts'
import { text } from '../../text/en.ts'
import { CreateKey } from './create-key.tsx'

type Key = components['schemas']['ApiKey']

/** The requests beside them have a cursor as well. */
const cursor = 'keys_after'

export function ApiKeys() {
  const place = usePlace()
  const stale = useStale(place)
  const because = useBecause(place)('keys')
  const [isNew, setNew] = useState(false)
  const [secret, setSecret] = useState<string>()
  const [leaving, setLeaving] = useState<Key>()
  const [said, setSaid] = useState('')
  const { here, query } = useCursorOf(cursor)
  const keys = useRead(place, ['api_keys.list', here], () =>
    own(place).GET('/console/api/api_keys', { params: { query: listQuery({ mode: place.mode, ...query }) } }),
  )
  const words = text.developers
  const revoke = useAction(
    ({ id }: Key) => answered(own(place).POST('/console/api/api_keys/{id}/revoke', { params: { path: { id } } })),
    async ({ name }) => {
      setLeaving(undefined)
      await stale('api_keys.')
      setSaid(words.revoked(name))
    },
  )
  const columns = useColumns(setLeaving)
  return (
    <>
      <Group justify="flex-end" mb="sm">
        <ActionButton label={words.create} because={because} onPress={() => setNew(true)} />
      </Group>
      <Done text={said} />
      <InnerList name={words.tabs.keys} columns={columns} query={keys} cursor={cursor} empty={words.noKeys} />
      {isNew && (
        <CreateKey
          onClose={() => setNew(false)}
          onMade={(key) => {
            setNew(false)
            setSecret(key)
          }}
        />
      )}
      <SecretDialog title={words.made} secret={secret} onStored={() => setSecret(undefined)} />
      <ConfirmDialog
        title={words.revokeNamed(leaving?.name ?? '')}
        why={words.revokeWhy}
        isOpen={leaving !== undefined}
        onClose={() => setLeaving(undefined)}
        action={revoke}
        onConfirm={() => leaving !== undefined && revoke.run(leaving)}
      />
    </>
  )
}

function useColumns(onRevoke: (key: Key) => void): Column<Key>[] {
  const place = usePlace()
  const time = useTime()
  const because = useBecause(place)('revoke_keys')
  const words = text.developers
  return [
    { id: 'name', header: words.columns.name, cell: ({ name }) => <bdi>{name}</bdi> },
    { id: 'key', header: words.columns.key, cell: ({ mode, last_four }) => `svc_${mode}_…${last_four}` },
    { id: 'scopes', header: words.columns.scopes, cell: ({ scopes }) => scopes.join(', ') },
    {
      id: 'addresses',
      header: words.columns.addresses,
      cell: ({ ip_allowlist }) => (ip_allowlist.length === 0 ? words.everywhere : ip_allowlist.join(', ')),
    },
    { id: 'expires', header: words.columns.expires, cell: ({ expires_at }) => time(expires_at) },
    {
      id: 'state',
      header: words.columns.state,
      cell: ({ revoked_at }) => (revoked_at === null ? words.inForce : words.revokedAt(time(revoked_at))),
    },
    {
      id: 'revoke',
      header: '',
      cell: (key) =>
        key.revoked_at === null && (
          <ActionButton
            label={words.revoke}
            named={words.revokeNamed(key.name)}
            because={because}
            variant="subtle"
            color="red"
            size="xs"
            onPress={() => onRevoke(key)}
          />
        ),
    },
  ]
}
