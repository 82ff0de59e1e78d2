/** Balance, usage, packages, prices, top-ups and the ledger. */
import { Button, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { unwrap, own, Problem, problemOf, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useDisabledReason } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useApiQuery } from '../../api/use-api-query.ts'
import { type Workspace, useWorkspace } from '../../app/paths.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Dialog } from '../../components/feedback/dialog.tsx'
import { Screen } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { TextField } from '../../components/form/fields.tsx'
import { useStoredIdempotencyKeys, useDraft } from '../../components/form/use-draft.ts'
import { DescriptionList, Region } from '../../components/format/facts.tsx'
import { formatDollars, parseDollars, formatNumber, useTimeFormat } from '../../components/format/intl.tsx'
import { type Column, RowsTable } from '../../components/table/list-table.tsx'
import { humanize, text } from '../../text/en.ts'
import { Ledger } from './ledger.tsx'

export function BillingScreen() {
  const workspace = useWorkspace()
  const disabledReason = useDisabledReason(workspace)('top_up')
  const [isOpen, setOpen] = useState(false)
  const topUps = useTopUps(workspace)
  const words = text.billing
  return (
    <Screen
      title={text.screens.billing}
      mode={workspace.mode}
      actions={
        <>
          <ApiButton request={{ operation: 'balance.retrieve', method: 'GET', path: '/v1/balance' }} />
          {topUps.areOffered && (
            <ActionButton
              label={words.topUp}
              disabledReason={workspace.mode === 'test' ? words.testMode : disabledReason}
              onPress={() => setOpen(true)}
            />
          )}
        </>
      }
    >
      <Stack gap="lg">
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <Wallet />
          <UsageRegion />
        </SimpleGrid>
        <Ledger />
        <Section title={words.packages}>
          <Packages />
        </Section>
        <Section title={words.prices}>
          <Prices />
        </Section>
      </Stack>
      {isOpen && <TopUp onClose={() => setOpen(false)} />}
    </Screen>
  )
}

function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div>
      <Title order={2} size="h4" mb="xs">
        {title}
      </Title>
      {children}
    </div>
  )
}

function Wallet() {
  const workspace = useWorkspace()
  const balance = useApiQuery(workspace, ['balance.retrieve'], () => v1(workspace).GET('/v1/balance'))
  const words = text.billing
  return (
    <Region title={words.wallet}>
      {balance.data !== undefined && (
        <DescriptionList
          of={[
            [
              words.balance,
              <Text key="balance" span fw={600}>
                {formatDollars(balance.data.wallet_micros)}
              </Text>,
            ],
            [words.credits, formatNumber(balance.data.credits_remaining)],
          ]}
        />
      )}
      {balance.isError && <ProblemAlert problem={problemOf(balance.error)} onRetry={() => void balance.refetch()} />}
    </Region>
  )
}

const periodMs = 30 * 24 * 3600_000
const dayOf = (instant: number): string => new Date(instant).toISOString().slice(0, 10)

function UsageRegion() {
  const workspace = useWorkspace()
  const [period] = useState(() => ({ from: dayOf(Date.now() - periodMs), to: dayOf(Date.now() + 24 * 3600_000) }))
  const usage = useApiQuery(workspace, ['usage.retrieve', period], () =>
    v1(workspace).GET('/v1/usage', { params: { query: { ...period, group_by: 'channel_type', limit: 100 } } }),
  )
  const words = text.billing
  const rows = (usage.data?.data ?? []).filter(
    ({ messages, refunded_micros, refunded_credits }) => messages + refunded_micros + refunded_credits > 0,
  )
  return (
    <Region title={words.usage}>
      <Text size="sm" c="dimmed">
        {words.usageWhy}
      </Text>
      {usage.data !== undefined && rows.length === 0 && <Text size="sm">{words.noUsage}</Text>}
      {rows.length > 0 && (
        <RowsTable
          name={words.usage}
          rows={rows.map((row) => ({ ...row, id: row.channel_type ?? '' }))}
          columns={[
            {
              id: 'kind',
              header: words.usageColumns.kind,
              cell: ({ channel_type }) => (channel_type === null ? words.anyChannel : humanize(channel_type)),
            },
            { id: 'messages', header: words.usageColumns.messages, cell: ({ messages }) => formatNumber(messages) },
            {
              id: 'credits',
              header: words.usageColumns.credits,
              cell: ({ package_credits }) => formatNumber(package_credits),
            },
            {
              id: 'wallet',
              header: words.usageColumns.wallet,
              cell: ({ wallet_micros }) => formatDollars(wallet_micros),
            },
            {
              id: 'refunded',
              header: words.usageColumns.refunded,
              cell: ({ refunded_micros }) => formatDollars(refunded_micros),
            },
          ]}
        />
      )}
      {usage.isError && <ProblemAlert problem={problemOf(usage.error)} onRetry={() => void usage.refetch()} />}
    </Region>
  )
}

type Package = components['schemas']['Package']

function usePackageColumns(): Column<Package>[] {
  const time = useTimeFormat()
  const words = text.billing.packageColumns
  return [
    { id: 'name', header: words.name, cell: ({ name }) => <bdi>{name}</bdi> },
    {
      id: 'channels',
      header: words.channels,
      cell: ({ channel_types }) =>
        channel_types.length === 0 ? text.billing.anyChannel : channel_types.map(humanize).join(', '),
    },
    { id: 'left', header: words.left, cell: ({ credits_remaining }) => formatNumber(credits_remaining) },
    { id: 'of', header: words.of, cell: ({ credits_total }) => formatNumber(credits_total) },
    { id: 'status', header: words.status, cell: ({ status }) => humanize(status) },
    { id: 'expires', header: words.expires, cell: ({ expires_at }) => time(expires_at) },
  ]
}

export function Packages() {
  const workspace = useWorkspace()
  const columns = usePackageColumns()
  const balance = useApiQuery(workspace, ['balance.retrieve'], () => v1(workspace).GET('/v1/balance'))
  return <RowsTable name={text.billing.packages} rows={balance.data?.packages ?? []} columns={columns} />
}

export function Prices() {
  const workspace = useWorkspace()
  const prices = useApiQuery(workspace, ['prices.list'], () =>
    v1(workspace).GET('/v1/prices', { params: { query: { limit: 100 } } }),
  )
  const words = text.billing.priceColumns
  return (
    <RowsTable
      name={text.billing.prices}
      rows={(prices.data?.data ?? []).map((price) => ({ ...price, id: price.channel_type }))}
      columns={[
        { id: 'channel', header: words.channel, cell: ({ channel_type }) => humanize(channel_type) },
        { id: 'unit', header: words.unit, cell: ({ unit }) => humanize(unit) },
        { id: 'amount', header: words.amount, cell: ({ amount_micros }) => formatDollars(amount_micros) },
      ]}
    />
  )
}

function useTopUps(workspace: Workspace): { readonly areOffered: boolean } {
  const found = useQuery({
    queryKey: [workspace.account, 'live', 'top_ups.list'],
    queryFn: () =>
      unwrap(own({ ...workspace, mode: 'live' }).GET('/console/api/top_ups', { params: { query: { limit: 1 } } })),
    refetchInterval: false,
    retry: false,
  })
  return {
    areOffered:
      found.isSuccess ||
      (found.isError && !['resource_missing', 'role_not_allowed'].includes(problemOf(found.error).code)),
  }
}

function TopUp({ onClose }: { onClose: () => void }) {
  const workspace = useWorkspace()
  const [draft, change, discard] = useDraft(workspace, 'top_up', { amount: '' })
  const [error, setError] = useState<string>()
  const begin = useApiMutation(
    async (amount_micros: number, key) => {
      const { url } = await unwrap(
        own(workspace).POST('/console/api/top_ups', { body: { amount_micros }, headers: { 'Idempotency-Key': key } }),
      )
      if (url === null) throw new Problem(0, { code: 'unexpected', message: text.problem.unexpected })
      return url
    },
    (url) => {
      discard()
      location.assign(url)
    },
    useStoredIdempotencyKeys(workspace, 'top up'),
  )
  const words = text.billing
  return (
    <Dialog title={words.topUp} isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const micros = parseDollars(draft.amount)
          setError(micros === undefined ? words.amountWrong : undefined)
          if (micros !== undefined) begin.run(micros)
        }}
      >
        <Stack>
          <Text size="sm">{words.topUpWhy}</Text>
          <TextField
            label={words.amount}
            hint={words.amountHint}
            value={draft.amount}
            onChange={(amount) => change({ amount })}
            param="amount_micros"
            problem={begin.problem}
            error={error}
            required
          />
          {begin.problem !== undefined && begin.problem.about('amount_micros') === undefined && (
            <ProblemAlert problem={begin.problem} />
          )}
          <Group justify="flex-end">
            <Button type="submit" loading={begin.isRunning}>
              {words.pay}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
