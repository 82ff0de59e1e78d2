/** An import that is not started: what the server knows of it, and what somebody has said of it since. */
import { answered, own } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { type Action, useAction } from '../../api/use-action.ts'
import { useStale } from '../../api/use-api-query.ts'
import { usePlace } from '../../app/paths.ts'
import { useDraft } from '../../components/form/use-draft.ts'

export type StepwiseImport = components['schemas']['StepwiseImport']
export type ImportColumn = StepwiseImport['columns'][number]

/** It can be changed, checked and cancelled. */
export const isOpen = ({ status }: StepwiseImport): boolean => status === 'draft' || status === 'checked'
/** Nothing has come of it. */
export const isDraft = (one: StepwiseImport): boolean => isOpen(one) || one.status === 'cancelled'
export const isOnItsWay = ({ status }: StepwiseImport): boolean => status === 'pending' || status === 'running'

/** What a column is that is left out. */
export const leftOut = 'null'

interface Said {
  /** By header. */
  readonly columns: Readonly<Record<string, string>>
  readonly country?: string
  readonly consent?: boolean
}

/** What is sent of it. */
interface Description {
  readonly columns: Readonly<Record<string, string | null>>
  readonly default_country: string | null
  readonly consent_declared: boolean
}

export interface DraftState {
  /** By header; what nobody has said is what the server makes of it. */
  readonly columns: Readonly<Record<string, string>>
  readonly country: string
  readonly consent: boolean
  readonly say: (said: Partial<Said>) => void
  /** The server's counts are those of what is said now. */
  readonly isChecked: boolean
  readonly description: Description
  readonly check: Action<Description>
  readonly start: Action<Description>
  readonly cancel: Action<null>
}

const knownColumns = (columns: readonly ImportColumn[]): Record<string, string> =>
  Object.fromEntries(columns.map(({ name, field, understood }) => [name, understood ? (field ?? leftOut) : '']))

export function useImportDraft(draft: StepwiseImport): DraftState {
  const [said, change, forget] = useDraft<Said>(usePlace(), `import ${draft.id}`, { columns: {} })
  const known = knownColumns(draft.columns)
  const columns = { ...known, ...said.columns }
  const country = (said.country ?? draft.default_country ?? '').toUpperCase()
  const consent = said.consent ?? draft.consent_declared
  const isSame =
    country.trim() === (draft.default_country ?? '') &&
    Object.entries(columns).every(([name, field]) => known[name] === field)
  const sent = Object.entries(columns).filter(([, field]) => field !== '')
  return {
    columns,
    country,
    consent,
    say: (more) => change({ ...said, ...more, columns: { ...said.columns, ...more.columns } }),
    isChecked: draft.status === 'checked' && isSame,
    description: {
      columns: Object.fromEntries(sent.map(([name, field]) => [name, field === leftOut ? null : field])),
      default_country: country.trim() === '' ? null : country.trim(),
      consent_declared: consent,
    },
    ...useSteps(draft, forget),
  }
}

/** The steps of a draft. `forget` is called where there is nothing more to say. */
function useSteps(
  { id, consent_declared }: StepwiseImport,
  forget: () => void,
): Pick<DraftState, 'check' | 'start' | 'cancel'> {
  const place = usePlace()
  const stale = useStale(place)
  const path = { id }
  const change = async (body: Partial<Description>) =>
    await answered(own(place).PATCH('/console/api/imports/{id}', { params: { path }, body }))
  const step = (key: string) => ({ params: { path }, headers: { 'Idempotency-Key': key } })
  const done = async () => {
    await stale('imports.', 'contact_imports.', 'contacts.')
  }
  const check = useAction(async (description: Description, key) => {
    await change(description)
    return await answered(own(place).POST('/console/api/imports/{id}/check', step(key)))
  }, done)
  const start = useAction(
    async (description: Description, key) => {
      if (description.consent_declared !== consent_declared)
        await change({ consent_declared: description.consent_declared })
      return await answered(own(place).POST('/console/api/imports/{id}/start', step(key)))
    },
    async () => {
      await done()
      forget()
    },
  )
  const cancel = useAction(
    async (_: null, key) => await answered(own(place).POST('/console/api/imports/{id}/cancel', step(key))),
    async () => {
      await done()
      forget()
    },
  )
  return { check, start, cancel }
}
