/** Form fields for rules: of segments and of automation conditions. */
import { Button, Fieldset, Group, Stack } from '@mantine/core'
import type { Problem } from '../../api/client.ts'
import { ruleFields, ruleOperators } from '../../api/generated/tables.ts'
import { humanize, text } from '../../text/en.ts'
import { ChoiceField, LongTextField, TextField } from './fields.tsx'
import {
  type FieldKind,
  kindOf,
  type RuleDraft,
  type RulesDraft,
  takesSeveral,
  takesValue,
  valueKind,
  type ValueKind,
} from './rules.ts'

interface RulesFieldsProps {
  readonly draft: RulesDraft
  readonly onChange: (draft: RulesDraft) => void
  readonly problem: Problem | undefined
  readonly param: string
  /** A name ending in a dot is a prefix. Default: fields of contacts. */
  readonly fields?: Readonly<Record<string, FieldKind>>
  readonly allowsEmpty?: boolean
}

export function RulesFields({
  draft,
  onChange,
  problem,
  param,
  fields = ruleFields,
  allowsEmpty = false,
}: RulesFieldsProps) {
  const words = text.rules
  const set = (at: number, rule: RuleDraft) =>
    onChange({ ...draft, rules: draft.rules.map((one, i) => (i === at ? rule : one)) })
  const first = Object.keys(fields)[0]!
  const add = () =>
    onChange({
      ...draft,
      rules: [...draft.rules, { field: first, operator: ruleOperators[fields[first]!][0]!, value: '' }],
    })
  return (
    <Stack>
      <ChoiceField
        label={words.match}
        choices={(['all', 'any'] as const).map((value) => ({ value, label: words.matches[value] }))}
        value={draft.match}
        onChange={(match) => onChange({ ...draft, match: match === 'any' ? 'any' : 'all' })}
        param={`${param}.match`}
        problem={problem}
      />
      {draft.rules.map((rule, at) => (
        <Fieldset key={at} legend={words.rule(at + 1)}>
          <RuleFields
            rule={rule}
            onChange={(next) => set(at, next)}
            problem={problem}
            param={`${param}.conditions[${at}]`}
            fields={fields}
          />
          {(draft.rules.length > 1 || allowsEmpty) && (
            <Group justify="flex-end" mt="xs">
              <Button
                variant="subtle"
                size="xs"
                aria-label={words.remove(at + 1)}
                onClick={() => onChange({ ...draft, rules: draft.rules.filter((_, i) => i !== at) })}
              >
                {words.remove(at + 1)}
              </Button>
            </Group>
          )}
        </Fieldset>
      ))}
      <Group>
        <Button variant="default" onClick={add}>
          {words.add}
        </Button>
      </Group>
    </Stack>
  )
}

interface RuleFieldsProps {
  readonly rule: RuleDraft
  readonly onChange: (rule: RuleDraft) => void
  readonly problem: Problem | undefined
  readonly param: string
  readonly fields: Readonly<Record<string, FieldKind>>
}

function RuleFields({ rule, onChange, problem, param, fields }: RuleFieldsProps) {
  const words = text.rules
  if (rule.group !== undefined)
    return (
      <LongTextField
        label={words.group}
        isCode
        value={rule.group}
        onChange={(group) => onChange({ ...rule, group })}
        param={param}
        problem={problem}
      />
    )
  const begin = Object.keys(fields).find((name) => name.endsWith('.') && rule.field.startsWith(name))
  const kind = kindOf(rule.field, fields)
  const choose = (field: string) => {
    const known: readonly string[] = ruleOperators[kindOf(field, fields)]
    onChange({ ...rule, field, operator: known.includes(rule.operator) ? rule.operator : known[0]! })
  }
  return (
    <div className="filters">
      <ChoiceField
        label={words.field}
        choices={Object.keys(fields).map((value) => ({
          value,
          label: value === 'attributes.' ? words.attribute : value.endsWith('.') ? `${value}…` : value,
        }))}
        value={begin ?? rule.field}
        onChange={choose}
        param={`${param}.field`}
        problem={problem}
      />
      {begin !== undefined && (
        <TextField
          label={words.attributeKey}
          value={rule.field.slice(begin.length)}
          onChange={(key) => onChange({ ...rule, field: begin + key })}
        />
      )}
      <ChoiceField
        label={words.operator}
        choices={ruleOperators[kind].map((value) => ({ value, label: humanize(value) }))}
        value={rule.operator}
        onChange={(operator) => onChange({ ...rule, operator })}
        param={`${param}.operator`}
        problem={problem}
      />
      {takesValue(rule.operator) && (
        <ValueField
          kind={valueKind(kind, rule.operator)}
          rule={rule}
          onChange={(value) => onChange({ ...rule, value })}
          param={`${param}.value`}
          problem={problem}
        />
      )}
    </div>
  )
}

const statuses = ['opted_in', 'opted_out', 'unknown'] as const

function ValueField(props: {
  kind: ValueKind
  rule: RuleDraft
  onChange: (value: string) => void
  param: string
  problem: Problem | undefined
}) {
  const { kind, rule, ...field } = props
  const words = text.rules
  const several = takesSeveral(rule.operator)
  if (!several && kind === 'status')
    return (
      <ChoiceField
        label={words.value}
        any=""
        choices={statuses.map((value) => ({ value, label: humanize(value) }))}
        value={rule.value}
        {...field}
      />
    )
  if (!several && kind === 'boolean') {
    const choices = [
      { value: 'true', label: words.yes },
      { value: 'false', label: words.no },
    ]
    return <ChoiceField label={words.value} any="" choices={choices} value={rule.value} {...field} />
  }
  const hints: Partial<Record<ValueKind, string>> = { days: words.days, instant: words.instant, list: words.list }
  return <TextField label={words.value} hint={several ? words.several : hints[kind]} value={rule.value} {...field} />
}
