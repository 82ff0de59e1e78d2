/** Actions on a launched campaign. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { unwrap, v1 } from '../../api/client.ts'
import { useDisabledReason } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useInvalidate } from '../../api/use-api-query.ts'
import { pathTo, type Workspace } from '../../app/paths.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ConfirmDialog } from '../../components/feedback/dialog.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { humanize, text } from '../../text/en.ts'
import type { Campaign } from './campaign-draft.ts'

const words = text.campaigns.one

type Step = 'pause' | 'resume' | 'cancel'
const statuses: Readonly<Record<Step, readonly string[]>> = {
  pause: ['scheduled', 'queued', 'sending'],
  resume: ['paused'],
  cancel: ['scheduled', 'queued', 'sending', 'paused'],
}

function useStep(workspace: Workspace, onDone: (to: Step) => void) {
  const invalidate = useInvalidate(workspace)
  return useApiMutation(
    ({ id, to }: { id: string; to: Step; status: string }, key) =>
      unwrap(
        v1(workspace).POST(`/v1/campaigns/{id}/${to}`, {
          params: { path: { id } },
          headers: { 'Idempotency-Key': key },
        }),
      ),
    async (_campaign, { to }) => {
      onDone(to)
      await invalidate('campaigns.')
    },
  )
}

export function CampaignActions({
  workspace,
  campaign,
  onDone,
}: {
  workspace: Workspace
  campaign: Campaign
  onDone: (said: string) => void
}) {
  const [isAsking, setAsking] = useState(false)
  const disabledReasonFor = useDisabledReason(workspace)
  const disabledReason = disabledReasonFor('campaigns:write')
  const step = useStep(workspace, (to) => {
    setAsking(false)
    onDone(words.done[to])
  })
  const stepDisabledReason = (to: Step) =>
    (to === 'pause' ? disabledReasonFor('campaigns:write', 'campaigns.pause') : disabledReason) ??
    (statuses[to].includes(campaign.status) ? undefined : words.not(humanize(campaign.status).toLowerCase()))
  const run = (to: Step) => step.run({ id: campaign.id, to, status: campaign.status })
  return (
    <div>
      <div className="actions">
        <ActionButton
          label={words.pause}
          variant="default"
          disabledReason={stepDisabledReason('pause')}
          onPress={() => run('pause')}
        />
        <ActionButton
          label={words.resume}
          variant="default"
          disabledReason={stepDisabledReason('resume')}
          onPress={() => run('resume')}
        />
        <ActionButton
          label={words.cancel}
          variant="default"
          disabledReason={stepDisabledReason('cancel')}
          onPress={() => setAsking(true)}
        />
        <DuplicateButtons workspace={workspace} campaign={campaign} disabledReason={disabledReason} />
      </div>
      {step.problem !== undefined && <ProblemAlert problem={step.problem} />}
      <ConfirmDialog
        title={words.cancel}
        why={words.cancelWhy}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        action={step}
        onConfirm={() => run('cancel')}
      />
    </div>
  )
}

function DuplicateButtons({
  workspace,
  campaign,
  disabledReason,
}: {
  workspace: Workspace
  campaign: Campaign
  disabledReason: string | undefined
}) {
  const navigate = useNavigate()
  const invalidate = useInvalidate(workspace)
  const action = useApiMutation(
    (body: { recipients: 'all' | 'failed' }, key) =>
      unwrap(
        v1(workspace).POST('/v1/campaigns/{id}/duplicate', {
          params: { path: { id: campaign.id } },
          body,
          headers: { 'Idempotency-Key': key },
        }),
      ),
    async ({ id }) => {
      await invalidate('campaigns.list')
      await navigate({ to: pathTo(workspace, 'campaigns', id) as never })
    },
  )
  const noneFailed = campaign.counters.failed === 0 ? words.noneFailed : undefined
  return (
    <>
      <ActionButton
        label={words.duplicate}
        variant="default"
        disabledReason={disabledReason}
        onPress={() => action.run({ recipients: 'all' })}
      />
      <ActionButton
        label={words.again}
        variant="default"
        disabledReason={disabledReason ?? noneFailed}
        onPress={() => action.run({ recipients: 'failed' })}
      />
      {action.problem !== undefined && <ProblemAlert problem={action.problem} />}
    </>
  )
}
