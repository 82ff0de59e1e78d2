/** API keys of the current mode. */
import { Button, Checkbox, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { unwrap, own } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { scopes } from '../../api/generated/tables.ts'
import { useDisabledReason } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { listQuery, useApiQuery, useInvalidate } from '../../api/use-api-query.ts'
import { useWorkspace } from '../../app/paths.ts'
import { SuccessNotice } from '../../components/feedback/alerts.tsx'
import { ConfirmDialog, Dialog, SecretDialog } from '../../components/feedback/dialog.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { FormProblem, TextField } from '../../components/form/fields.tsx'
import { useDraft } from '../../components/form/use-draft.ts'
import { parseLocalTime, useTimeFormat, useZone } from '../../components/format/intl.tsx'
import { useCursorOf } from '../../components/table/filters.tsx'
import { type Column, InnerList } from '../../components/table/list-table.tsx'
import { text } from '../../text/en.ts'

type Key = components['schemas']['ApiKey']

const cursor = 'keys_after'

export function ApiKeys() {
  const workspace = useWorkspace()
  const invalidate = useInvalidate(workspace)
  const disabledReason = useDisabledReason(workspace)('keys')
  const [isNew, setNew] = useState(false)
  const [secret, setSecret] = useState<string>()
  const [toDelete, setToDelete] = useState<Key>()
  const [said, setSaid] = useState('')
  const { here, query } = useCursorOf(cursor)
  const keys = useApiQuery(workspace, ['api_keys.list', here], () =>
    own(workspace).GET('/console/api/api_keys', { params: { query: listQuery({ mode: workspace.mode, ...query }) } }),
  )
  const words = text.developers
  const revoke = useApiMutation(
    ({ id }: Key) => unwrap(own(workspace).POST('/console/api/api_keys/{id}/revoke', { params: { path: { id } } })),
    async ({ name }) => {
      setToDelete(undefined)
      await invalidate('api_keys.')
      setSaid(words.revoked(name))
    },
  )
  const columns = useColumns(setToDelete)
  return (
    <>
      <Group justify="flex-end" mb="sm">
        <ActionButton label={words.create} disabledReason={disabledReason} onPress={() => setNew(true)} />
      </Group>
      <SuccessNotice text={said} />
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
        title={words.revokeNamed(toDelete?.name ?? '')}
        why={words.revokeWhy}
        isOpen={toDelete !== undefined}
        onClose={() => setToDelete(undefined)}
        action={revoke}
        onConfirm={() => toDelete !== undefined && revoke.run(toDelete)}
      />
    </>
  )
}

function useColumns(onRevoke: (key: Key) => void): Column<Key>[] {
  const workspace = useWorkspace()
  const time = useTimeFormat()
  const disabledReason = useDisabledReason(workspace)('revoke_keys')
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
            disabledReason={disabledReason}
            variant="subtle"
            color="red"
            size="xs"
            onPress={() => onRevoke(key)}
          />
        ),
    },
  ]
}

type Scope = (typeof scopes)[number]

interface Draft {
  readonly name: string
  readonly expires: string
  readonly addresses: string
  readonly scopes: readonly Scope[]
}

const first: Draft = { name: '', expires: '', addresses: '', scopes }

function bodyOf(draft: Draft, mode: 'live' | 'test', zone: string) {
  const addresses = draft.addresses.split(/[\s,]+/).filter((address) => address !== '')
  return {
    mode,
    scopes: [...draft.scopes],
    ...(draft.name.trim() === '' ? {} : { name: draft.name.trim() }),
    ...(draft.expires.trim() === '' ? {} : { expires_at: parseLocalTime(draft.expires, zone) }),
    ...(addresses.length === 0 ? {} : { ip_allowlist: addresses }),
  }
}

function CreateKey({ onClose, onMade }: { onClose: () => void; onMade: (key: string) => void }) {
  const workspace = useWorkspace()
  const zone = useZone()
  const invalidate = useInvalidate(workspace)
  const [draft, change, discard] = useDraft(workspace, 'api_key', first)
  const create = useApiMutation(
    (body: ReturnType<typeof bodyOf>, key) =>
      unwrap(own(workspace).POST('/console/api/api_keys', { body, headers: { 'Idempotency-Key': key } })),
    async ({ key }) => {
      discard()
      await invalidate('api_keys.')
      onMade(key)
    },
  )
  const { problem } = create
  const words = text.developers
  return (
    <Dialog title={words.create} isOpen onClose={onClose} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          create.run(bodyOf(draft, workspace.mode, zone))
        }}
      >
        <Stack>
          <TextField
            label={words.name}
            value={draft.name}
            onChange={(name) => change({ ...draft, name })}
            param="name"
            problem={problem}
          />
          <TextField
            label={words.expires}
            hint={words.expiresHint}
            value={draft.expires}
            onChange={(expires) => change({ ...draft, expires })}
            param="expires_at"
            problem={problem}
          />
          <TextField
            label={words.addresses}
            hint={words.addressesHint}
            value={draft.addresses}
            onChange={(addresses) => change({ ...draft, addresses })}
            param="ip_allowlist"
            problem={problem}
          />
          <Scopes chosen={draft.scopes} onChange={(chosen) => change({ ...draft, scopes: chosen })} />
          <FormProblem problem={problem} fields={['name', 'expires_at', 'ip_allowlist']} />
          <Group justify="flex-end">
            <Button type="submit" loading={create.isRunning}>
              {words.submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}

function Scopes({ chosen, onChange }: { chosen: readonly Scope[]; onChange: (chosen: readonly Scope[]) => void }) {
  return (
    <Checkbox.Group
      label={text.developers.scopes}
      value={[...chosen]}
      onChange={(values) => onChange(scopes.filter((scope) => values.includes(scope)))}
    >
      <div className="scopes">
        {scopes.map((scope) => (
          <Checkbox key={scope} value={scope} label={scope} size="md" />
        ))}
      </div>
    </Checkbox.Group>
  )
}
