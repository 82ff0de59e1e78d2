/** Form fields for credentials or settings of a provider. */
import { Stack } from '@mantine/core'
import type { Problem } from '../../api/client.ts'
import { ChoiceField, PasswordField, TextField } from '../../components/form/fields.tsx'
import { text } from '../../text/en.ts'

export interface ProviderField {
  readonly name: string
  readonly label: string
  readonly hint: string
  readonly kind: 'text' | 'secret' | 'number' | 'flag' | 'choice'
  readonly required: boolean
  readonly choices: readonly string[]
  readonly fallback: string
}

export type StoredDraft = Readonly<Record<string, string>>

interface ProviderFieldsProps {
  readonly fields: readonly ProviderField[]
  /** `credentials` or `settings`, in validation errors. */
  readonly within: string
  readonly storedDraft: StoredDraft
  readonly onChange: (storedDraft: StoredDraft) => void
  readonly problem: Problem | undefined
}

export function ProviderFields({ fields, within, storedDraft, onChange, problem }: ProviderFieldsProps) {
  return (
    <Stack gap="sm">
      {fields.map((field) => (
        <ProviderInput
          key={field.name}
          field={field}
          value={storedDraft[field.name] ?? ''}
          onChange={(value) => onChange({ ...storedDraft, [field.name]: value })}
          param={`${within}.${field.name}`}
          problem={problem}
        />
      ))}
    </Stack>
  )
}

interface InputProps {
  readonly field: ProviderField
  readonly value: string
  readonly onChange: (value: string) => void
  readonly param: string
  readonly problem: Problem | undefined
}

function ProviderInput({ field, ...given }: InputProps) {
  const { form } = text.channels
  const props = { ...given, label: field.label, hint: hintOf(field), required: field.required }
  if (field.kind === 'secret') return <PasswordField {...props} autoComplete="new-password" />
  if (field.kind === 'choice') return <ChoiceField {...props} choices={field.choices} any={form.notChosen} />
  if (field.kind === 'flag')
    return (
      <ChoiceField
        {...props}
        any={form.notChosen}
        choices={[
          { value: 'true', label: form.yes },
          { value: 'false', label: form.no },
        ]}
      />
    )
  return <TextField {...props} />
}

function hintOf({ hint, fallback, kind, required }: ProviderField): string {
  if (required || fallback === '' || kind === 'flag') return hint
  return `${hint} ${text.channels.form.leftOut(fallback)}`.trim()
}

export function valuesOf(fields: readonly ProviderField[], storedDraft: StoredDraft): Record<string, unknown> {
  const given = fields
    .map((field) => [field, storedDraft[field.name]?.trim() ?? ''] as const)
    .filter(([, value]) => value !== '')
  return Object.fromEntries(given.map(([{ name, kind }, value]) => [name, valueOf(kind, value)]))
}

/** Invalid numbers are sent as typed: the API reports them. */
function valueOf(kind: ProviderField['kind'], value: string): unknown {
  if (kind === 'flag') return value === 'true'
  return kind === 'number' && /^-?\d+$/.test(value) ? Number(value) : value
}
