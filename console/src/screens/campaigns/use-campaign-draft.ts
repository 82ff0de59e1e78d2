/** The draft of a form: kept in the tab, then stored, and what is done once it is. */
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import type { Problem } from '../../api/problem.ts'
import { useAction } from '../../api/use-action.ts'
import { useStale } from '../../api/use-stale.ts'
import { useAttempt } from '../../parts/use-attempt.ts'
import type { Channels } from '../../parts/use-channels.ts'
import { useDraft } from '../../parts/use-draft.ts'
import { pathTo, type Place } from '../../paths.ts'
import { text } from '../../text/en.ts'
import type { CampaignCreation, CampaignDraft } from './campaign.ts'

/** What follows when the draft is stored: nothing, a test, the launch. */
type Then = 'stay' | 'test' | 'launch'

export interface CampaignForm {
  readonly draft: CampaignDraft
  readonly change: (draft: CampaignDraft) => void
  readonly save: (body: CampaignCreation, then: Then, onSaved: () => void) => void
  readonly isSaving: Then | undefined
  readonly problem: Problem | undefined
  readonly done: string
  readonly forget: () => void
  /** Somebody else has changed the stored draft since this one was begun. */
  readonly isOutdated: boolean
  /** To the page of the campaign that it is now. */
  readonly leave: () => Promise<void>
}

export function useCampaignDraft(place: Place, first: CampaignDraft, channels: Channels): CampaignForm {
  const navigate = useNavigate()
  const stale = useStale(place)
  const [draft, change, forget, { isOutdated, wasStored }] = useDraft(
    place,
    `campaign ${first.id === '' ? 'new' : first.id}`,
    first,
  )
  const [then, setThen] = useState<Then>()
  const [done, setDone] = useState('')
  const follow = useRef<() => void>(() => undefined)
  const sent = useRef('')
  const action = useAction(
    ({ id, body }: { id: string; body: CampaignCreation; after: Then }, key) =>
      answered(
        id === ''
          ? v1(place).POST('/v1/campaigns', { body, headers: { 'Idempotency-Key': key } })
          : v1(place).PATCH('/v1/campaigns/{id}', { params: { path: { id } }, body: body as never }),
      ),
    async (campaign, input) => {
      if (input.id === '') change({ ...draft, id: campaign.id })
      else wasStored()
      follow.current()
      setDone(input.after === 'stay' ? text.campaigns.form.saved : '')
      await stale('campaigns.list')
      // what was entered while it was being stored is stored with the next press
      if (input.after !== 'stay' || sent.current !== JSON.stringify(draft)) return
      forget()
      await stale('campaigns.')
      await navigate({ to: pathTo(place, 'campaigns', campaign.id) as never })
    },
    useAttempt(place, 'new campaign'),
  )
  const [only] = channels.all
  useEffect(() => {
    if (draft.channel === '' && only !== undefined)
      change({
        ...draft,
        channel: only.id,
        type: only.capabilities.includes(draft.type) ? draft.type : only.capabilities[0]!,
      })
  })
  return {
    draft,
    change: (next) => {
      setDone('')
      change(next)
    },
    save(body, next, onSaved) {
      follow.current = onSaved
      setThen(next)
      sent.current = JSON.stringify(draft)
      action.run({ id: draft.id, body, after: next })
    },
    isSaving: action.isRunning ? then : undefined,
    problem: action.problem,
    done,
    forget,
    isOutdated,
    async leave() {
      const { id } = draft
      await stale('campaigns.')
      await navigate({ to: pathTo(place, 'campaigns', id) as never })
      forget()
    },
  }
}
