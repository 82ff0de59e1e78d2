/** The launch dialog, with the campaign's rehearsal. */
import { Button, Checkbox, Group, List, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { unwrap, problemOf, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useApiMutation } from '../../api/use-action.ts'
import type { Workspace } from '../../app/paths.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { Dialog } from '../../components/feedback/dialog.tsx'
import { LoadingIndicator } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { DescriptionList, StatusLabel } from '../../components/format/facts.tsx'
import { formatDollars, formatNumber, useTimeFormat } from '../../components/format/intl.tsx'
import { humanize, text } from '../../text/en.ts'

const words = text.campaigns.launch

type Rehearsal = components['schemas']['CampaignRehearsal']

interface LaunchDialogProps {
  readonly workspace: Workspace
  readonly id: string
  readonly onClose: () => void
  readonly onLaunched: () => unknown
}

export function LaunchDialog({ workspace, id, onClose, onLaunched }: LaunchDialogProps) {
  const rehearsal = useQuery({
    queryKey: [workspace.account, workspace.mode, 'campaigns.rehearse', id],
    queryFn: () => unwrap(v1(workspace).POST('/v1/campaigns/{id}/rehearse', { params: { path: { id } } })),
    refetchInterval: false,
    gcTime: 0,
  })
  const [isShort, setShort] = useState(false)
  const action = useApiMutation(
    (body: { allow_insufficient_funds: boolean }, key) =>
      unwrap(
        v1(workspace).POST('/v1/campaigns/{id}/launch', {
          params: { path: { id } },
          body,
          headers: { 'Idempotency-Key': key },
        }),
      ),
    onLaunched,
  )
  // the string variant is CSV, which is not requested
  const data = typeof rehearsal.data === 'string' ? undefined : rehearsal.data
  const lacksFunds = data?.checks.some(({ code, ok }) => code === 'insufficient_balance' && !ok) ?? false
  const isFine = data?.checks.every(({ code, ok }) => ok || (isShort && code === 'insufficient_balance')) ?? false
  return (
    <Dialog title={words.title} isOpen onClose={onClose} size="lg">
      <Stack>
        {data === undefined && !rehearsal.isError && <LoadingIndicator />}
        {rehearsal.isError && (
          <ProblemAlert problem={problemOf(rehearsal.error)} onRetry={() => void rehearsal.refetch()} />
        )}
        {data !== undefined && <Rehearsed rehearsal={data} />}
        {lacksFunds && (
          <Checkbox
            label={words.shortOfFunds}
            checked={isShort}
            onChange={(event) => setShort(event.currentTarget.checked)}
          />
        )}
        {action.problem !== undefined && <ProblemAlert problem={action.problem} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {text.dialog.cancel}
          </Button>
          <ActionButton
            label={words.now}
            disabledReason={data === undefined ? words.checking : isFine ? undefined : words.failing}
            loading={action.isRunning}
            onPress={() => action.run({ allow_insufficient_funds: isShort })}
          />
        </Group>
      </Stack>
    </Dialog>
  )
}

function Rehearsed({ rehearsal }: { rehearsal: Rehearsal }) {
  const time = useTimeFormat()
  const { recipients_count, would_send, would_skip, cost, starts_at, ends_at, checks } = rehearsal
  const skipped = Object.entries(would_skip).map(([reason, count]) => `${humanize(reason)}: ${formatNumber(count)}`)
  const parts = [
    cost.package_credits > 0 ? words.credits(formatNumber(cost.package_credits)) : '',
    formatDollars(cost.wallet_micros),
  ]
  return (
    <>
      <List aria-label={words.checks} listStyleType="none" spacing="xs">
        {checks.map(({ code, ok, message }) => (
          <List.Item key={code}>
            <span className="mark-text-of">
              <StatusLabel kind={ok ? 'good' : 'bad'}>{message}</StatusLabel>
            </span>
          </List.Item>
        ))}
      </List>
      <Text>{words.would(formatNumber(would_send), formatNumber(recipients_count))}</Text>
      <DescriptionList
        of={[
          [words.skipped, skipped.length === 0 ? null : skipped.join(', ')],
          [words.cost, parts.filter((part) => part !== '').join(' + ')],
          [words.starts, starts_at === null ? null : time(starts_at)],
          [words.ends, ends_at === null ? null : time(ends_at)],
        ]}
      />
    </>
  )
}
