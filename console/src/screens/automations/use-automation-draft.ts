/** The draft of an automation: kept in the tab, then stored, and what is done once it is. */
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import type { Problem } from '../../api/problem.ts'
import { useAction } from '../../api/use-action.ts'
import { useStale } from '../../api/use-stale.ts'
import { useAttempt } from '../../parts/use-attempt.ts'
import type { Channels } from '../../parts/use-channels.ts'
import { useDraft } from '../../parts/use-draft.ts'
import { pathTo, type Place } from '../../paths.ts'
import { text } from '../../text/en.ts'
import type { AutomationCreation, AutomationDraft } from './automation.ts'

const words = text.automations.form

/** What follows when it is stored. A new one is paused until it is activated. */
export type After = 'stay' | 'simulate' | 'activate' | 'pause'

export interface AutomationFormState {
  readonly draft: AutomationDraft
  readonly change: (draft: AutomationDraft) => void
  readonly save: (body: AutomationCreation, after: After, onSaved: () => void) => void
  readonly isSaving: After | undefined
  readonly problem: Problem | undefined
  readonly done: string
  readonly forget: () => void
  /** Somebody else has changed the stored automation since this draft was begun. */
  readonly isOutdated: boolean
}

const said: Readonly<Record<After, string>> = {
  stay: words.saved,
  simulate: '',
  activate: words.activated,
  pause: words.paused,
}

function statusAfter(id: string, after: After): { status?: 'active' | 'paused' } {
  if (after === 'activate') return { status: 'active' }
  return after === 'pause' || id === '' ? { status: 'paused' } : {}
}

export function useAutomationDraft(
  place: Place,
  first: AutomationDraft,
  given: Partial<AutomationDraft>,
  channels: Channels,
): AutomationFormState {
  const navigate = useNavigate()
  const stale = useStale(place)
  const [kept, change, forget, { isOutdated, wasStored }] = useDraft(
    place,
    `automation ${first.id === '' ? 'new' : first.id}`,
    first,
  )
  const [isGiven, setGiven] = useState(true)
  const [only] = channels.all
  const written = isGiven ? { ...kept, ...given } : kept
  const draft = written.channel === '' && only !== undefined ? { ...written, channel: only.id } : written
  const [doing, setDoing] = useState<After>()
  const [done, setDone] = useState('')
  const follow = useRef<() => void>(() => undefined)
  const set = (next: AutomationDraft) => {
    setGiven(false)
    change(next)
  }
  const sent = useRef('')
  const action = useAction(
    ({ id, body, after }: { id: string; body: AutomationCreation; after: After }, key) => {
      const whole = { ...body, ...statusAfter(id, after) }
      return answered(
        id === ''
          ? v1(place).POST('/v1/automations', { body: whole, headers: { 'Idempotency-Key': key } })
          : v1(place).PATCH('/v1/automations/{id}', { params: { path: { id } }, body: whole as never }),
      )
    },
    async (automation, { after }) => {
      if (draft.id === '') set({ ...draft, id: automation.id })
      else wasStored()
      setDone(said[after])
      follow.current()
      await stale('automations.', 'integration_sources.')
      // what was entered while it was being stored is stored with the next press
      if (after === 'simulate' || sent.current !== JSON.stringify(draft)) return
      forget()
      if (first.id === '') await navigate({ to: pathTo(place, 'automations', automation.id) as never })
    },
    useAttempt(place, 'new automation'),
  )
  return {
    draft,
    change(next) {
      setDone('')
      set(next)
    },
    save(body, after, onSaved) {
      follow.current = onSaved
      setDoing(after)
      sent.current = JSON.stringify(draft)
      action.run({ id: draft.id, body, after })
    },
    isSaving: action.isRunning ? doing : undefined,
    problem: action.problem,
    done,
    forget,
    isOutdated,
  }
}
