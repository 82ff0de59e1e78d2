/** A draft: what its columns are, the declaration that everybody has agreed, what the check told, and the start. */
import { Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import { ActionButton } from '../../parts/action-button.tsx'
import { numberOf } from '../../parts/amounts.ts'
import { Done } from '../../parts/done.tsx'
import { TextField } from '../../parts/fields.tsx'
import { FormProblem } from '../../parts/form-problem.tsx'
import { text } from '../../text/en.ts'
import { ColumnFields, paramsOf } from './column-fields.tsx'
import { useImportDraft, type DraftState, type StepwiseImport } from './draft.ts'

export function DraftForm({ draft }: { draft: StepwiseImport }) {
  const state = useImportDraft(draft)
  const { columns, country, consent, say, isChecked, description, check, start, cancel } = state
  const words = text.contactImports
  const fields = [...draft.columns.flatMap(({ name }, at) => paramsOf(name, at)), 'default_country', 'consent_declared']
  const problem = check.problem ?? start.problem ?? cancel.problem
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        start.reset()
        check.run(description)
      }}
    >
      <Stack>
        <Text size="sm">{words.rows(numberOf(draft.total))}</Text>
        <ColumnFields
          columns={draft.columns}
          said={columns}
          onSay={(name, field) => say({ columns: { [name]: field } })}
          problem={check.problem}
        />
        <TextField
          label={words.country}
          hint={words.countryHint}
          value={country}
          onChange={(typed) => say({ country: typed })}
          param="default_country"
          problem={check.problem}
        />
        <Checkbox
          label={words.consent}
          checked={consent}
          onChange={(event) => say({ consent: event.currentTarget.checked })}
          error={start.problem?.code === 'consent_required' ? start.problem.message : undefined}
        />
        {start.problem?.code === 'consent_required' ? null : <FormProblem problem={problem} fields={fields} />}
        <Done text={isChecked ? countsOf(draft) : ''} />
        <Steps state={state} />
      </Stack>
    </form>
  )
}

function countsOf({ total, created, updated, rejected }: StepwiseImport): string {
  const [totals, ...others] = [total, created, updated, rejected].map(numberOf) as [string, string, string, string]
  return text.contactImports.checked(totals, ...others)
}

function Steps({ state: { isChecked, description, check, start, cancel } }: { state: DraftState }) {
  const words = text.contactImports
  return (
    <Group>
      <Button type="submit" variant={isChecked ? 'default' : 'filled'} loading={check.isRunning}>
        {words.check}
      </Button>
      <ActionButton
        label={words.start}
        variant={isChecked ? 'filled' : 'default'}
        loading={start.isRunning}
        onPress={() => start.run(description)}
        because={isChecked ? undefined : words.checkFirst}
      />
      <Button variant="subtle" loading={cancel.isRunning} onClick={() => cancel.run(null)}>
        {words.cancel}
      </Button>
    </Group>
  )
}
