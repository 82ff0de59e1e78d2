/** Form fields with their errors. */
import { Checkbox, NativeSelect, SimpleGrid, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Problem } from '../../api/client.ts'
import { ProblemAlert } from '../feedback/alerts.tsx'

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly param?: string
  readonly problem?: Problem | undefined
  readonly hint?: string | undefined
  readonly error?: string | undefined
  readonly required?: boolean
}

/** Mantine's `required` adds an asterisk to the accessible name. */
const shared = ({ label, value, param, problem, hint, error, required }: FieldProps) => ({
  label,
  value,
  description: hint,
  error: error ?? (param === undefined ? undefined : problem?.about(param)),
  'aria-required': required,
})

export function TextField({
  type,
  autoComplete,
  ...field
}: FieldProps & { type?: 'text' | 'email' | 'search'; autoComplete?: string }) {
  return (
    <TextInput
      {...shared(field)}
      dir="auto"
      type={type ?? 'text'}
      autoComplete={autoComplete ?? 'off'}
      onChange={(event) => field.onChange(event.currentTarget.value)}
    />
  )
}

/** `onSubmit`: Ctrl+Enter or ⌘+Enter. */
export function LongTextField({
  isCode,
  onSubmit,
  ...field
}: FieldProps & { isCode?: boolean; onSubmit?: () => void }) {
  return (
    <Textarea
      {...shared(field)}
      dir="auto"
      autosize
      minRows={3}
      maxRows={14}
      {...(isCode === true ? { styles: { input: { fontFamily: 'var(--mantine-font-family-monospace)' } } } : {})}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSubmit?.()
      }}
      onChange={(event) => field.onChange(event.currentTarget.value)}
    />
  )
}

export function PasswordField({
  autoComplete,
  ...field
}: FieldProps & { autoComplete: 'current-password' | 'new-password' }) {
  return (
    <TextInput
      {...shared(field)}
      type="password"
      autoComplete={autoComplete}
      onChange={(event) => field.onChange(event.currentTarget.value)}
    />
  )
}

export interface Choice {
  readonly value: string
  readonly label: string
}

export function ChoiceField({
  choices,
  any,
  ...field
}: FieldProps & { choices: readonly (Choice | string)[]; any?: string }) {
  const all = [
    ...(any === undefined ? [] : [{ value: '', label: any }]),
    ...choices.map((choice) => (typeof choice === 'string' ? { value: choice, label: choice } : choice)),
  ]
  return <NativeSelect {...shared(field)} data={all} onChange={(event) => field.onChange(event.currentTarget.value)} />
}

interface CheckGroupProps {
  readonly label: string
  readonly choices: readonly string[]
  readonly chosen: readonly string[]
  readonly onChange: (chosen: string[]) => void
  readonly hint?: string | undefined
  readonly error?: string | undefined
  readonly children?: ReactNode
}

export function CheckGroup({ label, choices, chosen, onChange, hint, error, children }: CheckGroupProps) {
  return (
    <Checkbox.Group label={label} description={hint} error={error} value={[...chosen]} onChange={onChange}>
      {children}
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" my="xs">
        {choices.map((value) => (
          <Checkbox key={value} value={value} label={value} />
        ))}
      </SimpleGrid>
    </Checkbox.Group>
  )
}

/** For problems of none of these API fields. */
export function FormProblem({ problem, fields }: { problem: Problem | undefined; fields: readonly string[] }) {
  if (problem === undefined) return null
  const isAtField = (param: string) =>
    fields.some((field) => param === field || param.startsWith(`${field}.`) || param.startsWith(`${field}[`))
  if (problem.details.length > 0 && problem.details.every(({ param }) => isAtField(param))) return null
  return <ProblemAlert problem={problem} />
}
