/** What can be done with a campaign that has been launched; what is not possible now says why. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import { useBecause } from '../../api/session.ts'
import { useAction } from '../../api/use-action.ts'
import { useStale } from '../../api/use-api-query.ts'
import { pathTo, type Place } from '../../app/paths.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ConfirmDialog } from '../../components/feedback/dialog.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { inWords, text } from '../../text/en.ts'
import type { Campaign } from './campaign-draft.ts'

const words = text.campaigns.one

type Step = 'pause' | 'resume' | 'cancel'
const statuses: Readonly<Record<Step, readonly string[]>> = {
  pause: ['scheduled', 'queued', 'sending'],
  resume: ['paused'],
  cancel: ['scheduled', 'queued', 'sending', 'paused'],
}

export function CampaignActions({
  place,
  campaign,
  onDone,
}: {
  place: Place
  campaign: Campaign
  onDone: (said: string) => void
}) {
  const stale = useStale(place)
  const [isAsking, setAsking] = useState(false)
  const allowed = useBecause(place)
  const because = allowed('campaigns:write')
  const step = useAction(
    ({ id, to }: { id: string; to: Step; status: string }, key) =>
      answered(
        v1(place).POST(`/v1/campaigns/{id}/${to}`, { params: { path: { id } }, headers: { 'Idempotency-Key': key } }),
      ),
    async (_campaign, { to }) => {
      setAsking(false)
      onDone(words.done[to])
      await stale('campaigns.')
    },
  )
  const whyNot = (to: Step) =>
    (to === 'pause' ? allowed('campaigns:write', 'campaigns.pause') : because) ??
    (statuses[to].includes(campaign.status) ? undefined : words.not(inWords(campaign.status).toLowerCase()))
  const run = (to: Step) => step.run({ id: campaign.id, to, status: campaign.status })
  return (
    <div>
      <div className="actions">
        <ActionButton label={words.pause} variant="default" because={whyNot('pause')} onPress={() => run('pause')} />
        <ActionButton label={words.resume} variant="default" because={whyNot('resume')} onPress={() => run('resume')} />
        <ActionButton
          label={words.cancel}
          variant="default"
          because={whyNot('cancel')}
          onPress={() => setAsking(true)}
        />
        <DuplicateButtons place={place} campaign={campaign} because={because} />
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

/** Each makes a draft, and shows it. */
function DuplicateButtons({
  place,
  campaign,
  because,
}: {
  place: Place
  campaign: Campaign
  because: string | undefined
}) {
  const navigate = useNavigate()
  const stale = useStale(place)
  const action = useAction(
    (body: { recipients: 'all' | 'failed' }, key) =>
      answered(
        v1(place).POST('/v1/campaigns/{id}/duplicate', {
          params: { path: { id: campaign.id } },
          body,
          headers: { 'Idempotency-Key': key },
        }),
      ),
    async ({ id }) => {
      await stale('campaigns.list')
      await navigate({ to: pathTo(place, 'campaigns', id) as never })
    },
  )
  const noneFailed = campaign.counters.failed === 0 ? words.noneFailed : undefined
  return (
    <>
      <ActionButton
        label={words.duplicate}
        variant="default"
        because={because}
        onPress={() => action.run({ recipients: 'all' })}
      />
      <ActionButton
        label={words.again}
        variant="default"
        because={because ?? noneFailed}
        onPress={() => action.run({ recipients: 'failed' })}
      />
      {action.problem !== undefined && <ProblemAlert problem={action.problem} />}
    </>
  )
}
