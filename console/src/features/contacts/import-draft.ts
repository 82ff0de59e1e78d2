/** An import before it starts. */
import { unwrap, own } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { type ApiMutation, useApiMutation } from '../../api/use-action.ts'
import { useInvalidate } from '../../api/use-api-query.ts'
import { useWorkspace } from '../../app/paths.ts'
import { useDraft } from '../../components/form/use-draft.ts'

export type StepwiseImport = components['schemas']['StepwiseImport']
export type ImportColumn = StepwiseImport['columns'][number]

export const isOpen = ({ status }: StepwiseImport): boolean => status === 'draft' || status === 'checked'
export const isDraft = (one: StepwiseImport): boolean => isOpen(one) || one.status === 'cancelled'
export const isOnItsWay = ({ status }: StepwiseImport): boolean => status === 'pending' || status === 'running'

/** Maps a column to nothing. */
export const leftOut = 'null'

interface Choices {
  readonly columns: Readonly<Record<string, string>>
  readonly country?: string
  readonly consent?: boolean
}

interface Description {
  readonly columns: Readonly<Record<string, string | null>>
  readonly default_country: string | null
  readonly consent_declared: boolean
}

export interface DraftState {
  /** By header; absent columns use the server's suggestion. */
  readonly columns: Readonly<Record<string, string>>
  readonly country: string
  readonly consent: boolean
  readonly choose: (choices: Partial<Choices>) => void
  /** The server's counts are for the current choices. */
  readonly isChecked: boolean
  readonly description: Description
  readonly check: ApiMutation<Description>
  readonly start: ApiMutation<Description>
  readonly cancel: ApiMutation<null>
}

const knownColumns = (columns: readonly ImportColumn[]): Record<string, string> =>
  Object.fromEntries(columns.map(({ name, field, understood }) => [name, understood ? (field ?? leftOut) : '']))

export function useImportDraft(draft: StepwiseImport): DraftState {
  const [choices, change, discard] = useDraft<Choices>(useWorkspace(), `import ${draft.id}`, { columns: {} })
  const known = knownColumns(draft.columns)
  const columns = { ...known, ...choices.columns }
  const country = (choices.country ?? draft.default_country ?? '').toUpperCase()
  const consent = choices.consent ?? draft.consent_declared
  const isSame =
    country.trim() === (draft.default_country ?? '') &&
    Object.entries(columns).every(([name, field]) => known[name] === field)
  const sent = Object.entries(columns).filter(([, field]) => field !== '')
  return {
    columns,
    country,
    consent,
    choose: (more) => change({ ...choices, ...more, columns: { ...choices.columns, ...more.columns } }),
    isChecked: draft.status === 'checked' && isSame,
    description: {
      columns: Object.fromEntries(sent.map(([name, field]) => [name, field === leftOut ? null : field])),
      default_country: country.trim() === '' ? null : country.trim(),
      consent_declared: consent,
    },
    ...useSteps(draft, discard),
  }
}

function useSteps(
  { id, consent_declared }: StepwiseImport,
  discard: () => void,
): Pick<DraftState, 'check' | 'start' | 'cancel'> {
  const workspace = useWorkspace()
  const invalidate = useInvalidate(workspace)
  const path = { id }
  const change = async (body: Partial<Description>) =>
    await unwrap(own(workspace).PATCH('/console/api/imports/{id}', { params: { path }, body }))
  const step = (key: string) => ({ params: { path }, headers: { 'Idempotency-Key': key } })
  const done = async () => {
    await invalidate('imports.', 'contact_imports.', 'contacts.')
  }
  const check = useApiMutation(async (description: Description, key) => {
    await change(description)
    return await unwrap(own(workspace).POST('/console/api/imports/{id}/check', step(key)))
  }, done)
  const start = useApiMutation(
    async (description: Description, key) => {
      if (description.consent_declared !== consent_declared)
        await change({ consent_declared: description.consent_declared })
      return await unwrap(own(workspace).POST('/console/api/imports/{id}/start', step(key)))
    },
    async () => {
      await done()
      discard()
    },
  )
  const cancel = useApiMutation(
    async (_: null, key) => await unwrap(own(workspace).POST('/console/api/imports/{id}/cancel', step(key))),
    async () => {
      await done()
      discard()
    },
  )
  return { check, start, cancel }
}
