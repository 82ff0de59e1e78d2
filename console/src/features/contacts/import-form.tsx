/** The form of an import: file, columns, consent, check and start. */
import { Button, Checkbox, Fieldset, Group, Loader, Stack, Text, TextInput } from '@mantine/core'
import { unwrap, own, type Problem } from '../../api/client.ts'
import { channelTypes, importFields } from '../../api/generated/tables.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useWorkspace } from '../../app/paths.ts'
import { SuccessNotice } from '../../components/feedback/alerts.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { type Choice, ChoiceField, FormProblem, TextField } from '../../components/form/fields.tsx'
import { formatNumber } from '../../components/format/intl.tsx'
import { humanize, text } from '../../text/en.ts'
import { type DraftState, type ImportColumn, leftOut, type StepwiseImport, useImportDraft } from './import-draft.ts'

export function DraftForm({ draft }: { draft: StepwiseImport }) {
  const state = useImportDraft(draft)
  const { columns, country, consent, choose, isChecked, description, check, start, cancel } = state
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
        <Text size="sm">{words.rows(formatNumber(draft.total))}</Text>
        <ColumnFields
          columns={draft.columns}
          choices={columns}
          onChoose={(name, field) => choose({ columns: { [name]: field } })}
          problem={check.problem}
        />
        <TextField
          label={words.country}
          hint={words.countryHint}
          value={country}
          onChange={(typed) => choose({ country: typed })}
          param="default_country"
          problem={check.problem}
        />
        <Checkbox
          label={words.consent}
          checked={consent}
          onChange={(event) => choose({ consent: event.currentTarget.checked })}
          error={start.problem?.code === 'consent_required' ? start.problem.message : undefined}
        />
        {start.problem?.code === 'consent_required' ? null : <FormProblem problem={problem} fields={fields} />}
        <SuccessNotice text={isChecked ? countsOf(draft) : ''} />
        <Steps state={state} />
      </Stack>
    </form>
  )
}

function countsOf({ total, created, updated, rejected }: StepwiseImport): string {
  const [totals, ...others] = [total, created, updated, rejected].map(formatNumber) as [string, string, string, string]
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
        disabledReason={isChecked ? undefined : words.checkFirst}
      />
      <Button variant="subtle" loading={cancel.isRunning} onClick={() => cancel.run(null)}>
        {words.cancel}
      </Button>
    </Group>
  )
}

interface ColumnFieldsProps {
  readonly columns: readonly ImportColumn[]
  readonly choices: Readonly<Record<string, string>>
  readonly onChoose: (name: string, field: string) => void
  readonly problem: Problem | undefined
}

function ColumnFields({ columns, choices, onChoose, problem }: ColumnFieldsProps) {
  const words = text.contactImports
  return (
    <Fieldset legend={words.columns}>
      <Stack>
        <Text size="sm" c="dimmed">
          {words.columnsHint}
        </Text>
        {columns.map(({ name, understood }, at) => {
          const value = choices[name] ?? ''
          return (
            <ChoiceField
              key={paramsOf(name, at).join(' ')}
              label={name === '' ? words.unnamed(at + 1) : name}
              {...(understood ? {} : { any: words.choose })}
              choices={choicesFor(name, value)}
              value={value}
              onChange={(field) => onChoose(name, field)}
              error={problem?.details.find(({ param }) => paramsOf(name, at).includes(param))?.message}
            />
          )
        })}
      </Stack>
    </Fieldset>
  )
}

const paramsOf = (name: string, at: number): string[] => [`columns[${JSON.stringify(name)}]`, `header[${at}]`]

function choicesFor(name: string, value: string): Choice[] {
  const { leaveOut, attribute, consentBy, identifierOn } = text.contactImports
  const key = keyFor(name)
  const choices = [
    { value: leftOut, label: leaveOut },
    ...importFields.map((field) => ({ value: field, label: humanize(field) })),
    { value: `attributes.${key}`, label: attribute(key) },
    ...channelTypes.map((type) => ({ value: `consent.${type}`, label: consentBy(humanize(type)) })),
    ...channelTypes.map((type) => ({ value: `identifiers.${type}`, label: identifierOn(humanize(type)) })),
  ]
  return value === '' || choices.some((choice) => choice.value === value)
    ? choices
    : [{ value, label: value }, ...choices]
}

function keyFor(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, 64)
  return /^[a-z]/.test(plain) ? plain : `column_${plain}`.slice(0, 64)
}

interface Chosen {
  readonly content: File
  /** Distinguishes files with the same content. */
  readonly about: readonly (string | number)[]
}

/** Nothing is imported yet. */
export function FileField({ onUploaded }: { onUploaded: (draft: StepwiseImport) => void }) {
  const workspace = useWorkspace()
  const upload = useApiMutation(
    async ({ content }: Chosen, key) =>
      await unwrap(
        own(workspace).POST('/console/api/imports', {
          params: { query: { file_name: content.name.slice(0, 255) } },
          body: '',
          bodySerializer: () => content,
          headers: { 'Content-Type': 'text/csv', 'Idempotency-Key': key },
        }),
      ),
    onUploaded,
  )
  const words = text.contactImports
  return (
    <Stack gap="xs" aria-busy={upload.isRunning}>
      <TextInput
        type="file"
        label={words.file}
        description={words.fileHint}
        accept=".csv,text/csv"
        onChange={(event) => {
          const content = event.currentTarget.files?.[0]
          if (content !== undefined) upload.run({ content, about: [content.name, content.size, content.lastModified] })
        }}
        error={upload.problem?.about('file')}
      />
      {upload.isRunning && (
        <Group gap="xs">
          <Loader size="xs" aria-hidden="true" />
          <Text size="sm">{words.uploading}</Text>
        </Group>
      )}
      <FormProblem problem={upload.problem} fields={['file']} />
    </Stack>
  )
}
