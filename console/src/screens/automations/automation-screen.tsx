/** An automation, new or stored: what it waits for, what it sends, and what it has done. */
import { useLocation, useParams } from '@tanstack/react-router'
import { v1 } from '../../api/client.ts'
import { useRead } from '../../api/use-read.ts'
import { useTemplates } from '../../parts/content-fields.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Waiting } from '../../parts/states.tsx'
import { usePlace } from '../../parts/use-place.ts'
import type { Place } from '../../paths.ts'
import type { Query } from '../../query.ts'
import { text } from '../../text/en.ts'
import { AutomationForm } from './automation-form.tsx'
import { draftOf, emptyAutomation, type Automation } from './automation.ts'

/** `source` and `event_type` of the address are what plugins link to. */
export function NewAutomationScreen() {
  const place = usePlace()
  const { source = '', event_type: event = '' } = useLocation().search as Query
  const given = { ...(source === '' ? {} : { source }), ...(event === '' ? {} : { event }) }
  return (
    <AutomationForm
      key={`${source} ${event}`}
      place={place}
      title={text.automations.create}
      first={emptyAutomation}
      given={given}
      stored={undefined}
    />
  )
}

export function AutomationScreen() {
  const place = usePlace()
  const { id } = useParams({ strict: false }) as { id: string }
  const automation = useRead(place, ['automations.retrieve', id], () =>
    v1(place).GET('/v1/automations/{id}', { params: { path: { id } } }),
  )
  return (
    <Loaded title={text.screens.automations} query={automation}>
      {(stored) => <StoredAutomation key={id} place={place} stored={stored} />}
    </Loaded>
  )
}

/** The form is filled once, when the templates are known that its message may name. */
function StoredAutomation({ place, stored }: { place: Place; stored: Automation }) {
  const { templates, isPending } = useTemplates(place, stored.channel_id, stored.message.type)
  if (isPending) return <Waiting />
  return (
    <AutomationForm place={place} title={stored.name} first={draftOf(stored, templates)} given={{}} stored={stored} />
  )
}
