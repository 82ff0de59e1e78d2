/** The file, what its columns are, and the declaration that everybody in it has agreed. */
import { Button, Checkbox, Fieldset, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import { channelTypes, importFields } from '../../api/generated/tables.ts'
import type { components } from '../../api/generated/v1.ts'
import type { Problem } from '../../api/problem.ts'
import { useAction } from '../../api/use-action.ts'
import { useStale } from '../../api/use-stale.ts'
import { ChoiceField, TextField, type Choice } from '../../parts/fields.tsx'
import { FormProblem } from '../../parts/form-problem.tsx'
import { useDraft } from '../../parts/use-draft.ts'
import { usePlace } from '../../parts/use-place.ts'
import { inWords, text } from '../../text/en.ts'
import { columnsOf } from './csv-header.ts'

type ContactImport = components['schemas']['ContactImport']

/** What is kept in the tab: the file itself is not. */
interface ImportDraft {
  /** By the column's name: the field that it is, `null` to leave it out; absent: what its name says. */
  readonly columns: Readonly<Record<string, string>>
  readonly country: string
}

const leftOut = 'null'
const paramOf = (name: string): string => `columns[${JSON.stringify(name)}]`

export function ImportForm({ onStarted }: { onStarted: (started: ContactImport) => void }) {
  const place = usePlace()
  const [file, setFile] = useState<File>()
  const [names, setNames] = useState<readonly string[]>([])
  const [isDeclared, setDeclared] = useState(false)
  const [isMissing, setMissing] = useState(false)
  const [draft, change, forget] = useDraft<ImportDraft>(place, 'import', { columns: {}, country: '' })
  const start = useStart((started) => {
    forget()
    onStarted(started)
  })
  const words = text.contactImports
  const choose = async (chosen: File | undefined) => {
    setFile(chosen)
    setMissing(false)
    setNames(chosen === undefined ? [] : await columnsOf(chosen))
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        setMissing(file === undefined)
        if (file !== undefined) start.run({ content: file, query: queryOf(file, names, draft, isDeclared), about: [file.size, file.lastModified] })
      }}
    >
      <Stack maw="44rem">
        <TextInput
          type="file"
          label={words.file}
          description={words.fileHint}
          accept=".csv,text/csv"
          onChange={(event) => void choose(event.currentTarget.files?.[0])}
          error={isMissing ? words.noFile : undefined}
        />
        {names.length > 0 && <ColumnFields names={names} draft={draft} onChange={change} problem={start.problem} />}
        <TextField
          label={words.country}
          hint={words.countryHint}
          value={draft.country}
          onChange={(country) => change({ ...draft, country })}
          param="default_country"
          problem={start.problem}
        />
        <Checkbox
          label={words.consent}
          checked={isDeclared}
          onChange={(event) => setDeclared(event.currentTarget.checked)}
          error={start.problem?.code === 'consent_required' ? start.problem.message : undefined}
        />
        <FormProblem problem={start.problem} fields={[...names.map(paramOf), 'default_country', 'consent_declared']} />
        <Group>
          <Button type="submit" loading={start.isRunning}>
            {words.start}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Uploads the file, which starts the import. `about` tells one file from another of its name. */
function useStart(onStarted: (started: ContactImport) => void) {
  const place = usePlace()
  const stale = useStale(place)
  return useAction(
    ({ content, query }: { content: File; query: object; about: readonly number[] }, key) =>
      answered(
        v1(place).POST('/v1/contact_imports', {
          params: { query },
          body: '',
          bodySerializer: () => content,
          headers: { 'Content-Type': 'text/csv', 'Idempotency-Key': key },
        }),
      ),
    async (started) => {
      await stale('contact_imports.', 'contacts.')
      onStarted(started)
    },
  )
}

interface ColumnFieldsProps {
  readonly names: readonly string[]
  readonly draft: ImportDraft
  readonly onChange: (draft: ImportDraft) => void
  readonly problem: Problem | undefined
}

function ColumnFields({ names, draft, onChange, problem }: ColumnFieldsProps) {
  const words = text.contactImports
  return (
    <Fieldset legend={words.columns}>
      <Stack>
        <Text size="sm" c="dimmed">
          {words.columnsHint}
        </Text>
        {names.map((name) => (
          <ChoiceField
            key={name}
            label={name}
            any={words.byName}
            choices={choicesFor(name)}
            value={draft.columns[name] ?? ''}
            onChange={(value) => onChange({ ...draft, columns: { ...draft.columns, [name]: value } })}
            error={problem?.details.find(({ param }) => param === paramOf(name))?.message}
          />
        ))}
      </Stack>
    </Fieldset>
  )
}

/** Every field that a column can be, with an attribute of its own name. */
function choicesFor(name: string): Choice[] {
  const { leaveOut, attribute, consentBy, identifierOn } = text.contactImports
  const key = keyOf(name)
  return [
    { value: leftOut, label: leaveOut },
    ...importFields.map((value) => ({ value, label: inWords(value) })),
    { value: `attributes.${key}`, label: attribute(key) },
    ...channelTypes.map((type) => ({ value: `consent.${type}`, label: consentBy(inWords(type)) })),
    ...channelTypes.map((type) => ({ value: `identifiers.${type}`, label: identifierOn(inWords(type)) })),
  ]
}

/** The key of an attribute that is called as a column. */
function keyOf(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, 64)
  return /^[a-z]/.test(plain) ? plain : `column_${plain}`
}

/** The parameters of the upload. Choices for columns that this file does not have are left out. */
function queryOf(file: File, names: readonly string[], { columns, country }: ImportDraft, isDeclared: boolean): object {
  const chosen = names.filter((name) => (columns[name] ?? '') !== '').map((name) => [name, columns[name] === leftOut ? null : columns[name]])
  return {
    file_name: file.name.slice(0, 255),
    consent_declared: isDeclared ? 'true' : 'false',
    ...(chosen.length === 0 ? {} : { columns: JSON.stringify(Object.fromEntries(chosen)) }),
    ...(country.trim() === '' ? {} : { default_country: country.trim().toUpperCase() }),
  }
}
