/** What each column of the file is. */
import { Fieldset, Stack, Text } from '@mantine/core'
import { channelTypes, importFields } from '../../api/generated/tables.ts'
import type { Problem } from '../../api/problem.ts'
import { ChoiceField, type Choice } from '../../parts/fields.tsx'
import { inWords, text } from '../../text/en.ts'
import { leftOut, type ImportColumn } from './draft.ts'

export interface ColumnFieldsProps {
  readonly columns: readonly ImportColumn[]
  /** By header: a field, `leftOut`, or nothing said. */
  readonly said: Readonly<Record<string, string>>
  readonly onSay: (name: string, field: string) => void
  readonly problem: Problem | undefined
}

export function ColumnFields({ columns, said, onSay, problem }: ColumnFieldsProps) {
  const words = text.contactImports
  return (
    <Fieldset legend={words.columns}>
      <Stack>
        <Text size="sm" c="dimmed">
          {words.columnsHint}
        </Text>
        {columns.map(({ name, understood }, at) => {
          const value = said[name] ?? ''
          return (
            <ChoiceField
              key={paramsOf(name, at).join(' ')}
              label={name === '' ? words.unnamed(at + 1) : name}
              {...(understood ? {} : { any: words.choose })}
              choices={choicesFor(name, value)}
              value={value}
              onChange={(field) => onSay(name, field)}
              error={problem?.details.find(({ param }) => paramsOf(name, at).includes(param))?.message}
            />
          )
        })}
      </Stack>
    </Fieldset>
  )
}

/** How a refusal names the column. */
export const paramsOf = (name: string, at: number): string[] => [`columns[${JSON.stringify(name)}]`, `header[${at}]`]

/** Every field that a column can be, with an attribute of its own name, and what it is now. */
function choicesFor(name: string, value: string): Choice[] {
  const { leaveOut, attribute, consentBy, identifierOn } = text.contactImports
  const key = keyOf(name)
  const choices = [
    { value: leftOut, label: leaveOut },
    ...importFields.map((field) => ({ value: field, label: inWords(field) })),
    { value: `attributes.${key}`, label: attribute(key) },
    ...channelTypes.map((type) => ({ value: `consent.${type}`, label: consentBy(inWords(type)) })),
    ...channelTypes.map((type) => ({ value: `identifiers.${type}`, label: identifierOn(inWords(type)) })),
  ]
  return value === '' || choices.some((choice) => choice.value === value)
    ? choices
    : [{ value, label: value }, ...choices]
}

/** The key of an attribute that is called as a column. */
function keyOf(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, 64)
  return /^[a-z]/.test(plain) ? plain : `column_${plain}`.slice(0, 64)
}
