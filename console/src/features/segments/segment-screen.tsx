/** One segment. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { unwrap, own, type Problem, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useDisabledReason } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useApiQuery, useInvalidate } from '../../api/use-api-query.ts'
import { pathTo, type Workspace, useWorkspace } from '../../app/paths.ts'
import { SuccessNotice, ConflictAlert, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton, type ApiRequest } from '../../components/feedback/api-button.tsx'
import { QueryScreen, Screen } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { LongTextField, TextField } from '../../components/form/fields.tsx'
import { RulesFields } from '../../components/form/rules-fields.tsx'
import { draftOf, firstRules, type RulesDraft, rulesOf } from '../../components/form/rules.ts'
import { useDraft } from '../../components/form/use-draft.ts'
import { formatNumber } from '../../components/format/intl.tsx'
import { text } from '../../text/en.ts'

type Segment = components['schemas']['Segment']

interface SegmentDraft {
  readonly name: string
  readonly description: string
  readonly rules: RulesDraft
}

export function NewSegmentScreen() {
  const workspace = useWorkspace()
  return (
    <SegmentForm
      stored={undefined}
      title={text.segments.create}
      first={{ name: '', description: '', rules: firstRules }}
      workspace={workspace}
    />
  )
}

export function SegmentScreen() {
  const workspace = useWorkspace()
  const { id } = useParams({ strict: false }) as { id: string }
  const segment = useApiQuery(workspace, ['segments.retrieve', id], () =>
    v1(workspace).GET('/v1/segments/{id}', { params: { path: { id } } }),
  )
  return (
    <QueryScreen title={text.screens.segments} query={segment}>
      {(stored) => {
        const { name, description, rules } = stored
        return (
          <SegmentForm
            key={id}
            stored={stored}
            title={name}
            first={{ name, description, rules: draftOf(rules) }}
            workspace={workspace}
          />
        )
      }}
    </QueryScreen>
  )
}

const requestOf = (stored: Segment | undefined, body: object): ApiRequest =>
  stored === undefined
    ? { operation: 'segments.create', method: 'POST', path: '/v1/segments', body }
    : { operation: 'segments.update', method: 'PATCH', path: `/v1/segments/${stored.id}`, body }

function SegmentForm({
  stored,
  title,
  first,
  workspace,
}: {
  stored: Segment | undefined
  title: string
  first: SegmentDraft
  workspace: Workspace
}) {
  const navigate = useNavigate()
  const invalidate = useInvalidate(workspace)
  const disabledReason = useDisabledReason(workspace)('contacts:write')
  const [done, setDone] = useState('')
  const [draft, change, discard, { hasConflict }] = useDraft(workspace, `segment ${stored?.id ?? 'new'}`, first)
  const save = useApiMutation(
    (body: { name: string; description: string; rules: never }, key) =>
      unwrap(
        stored === undefined
          ? v1(workspace).POST('/v1/segments', { body, headers: { 'Idempotency-Key': key } })
          : v1(workspace).PATCH('/v1/segments/{id}', { body, params: { path: { id: stored.id } } }),
      ),
    async (segment) => {
      discard()
      await invalidate('segments.')
      setDone(text.segments.saved(segment.name))
      if (stored === undefined) await navigate({ to: pathTo(workspace, 'segments', segment.id) as never })
    },
  )
  const rules = rulesOf(draft.rules)
  const body = { name: draft.name, description: draft.description, rules: rules as never }
  return (
    <Screen title={title} mode={workspace.mode} actions={<ApiButton request={requestOf(stored, body)} />}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (disabledReason === undefined) save.run(body)
        }}
      >
        <Stack maw="60rem">
          <SuccessNotice text={done} />
          <ConflictAlert when={hasConflict} onDiscard={discard} />
          <Fields draft={draft} onChange={change} problem={save.problem} />
          {save.problem !== undefined && <ProblemAlert problem={save.problem} />}
          <Group>
            {disabledReason === undefined ? (
              <Button type="submit" loading={save.isRunning}>
                {text.segments.save}
              </Button>
            ) : (
              <ActionButton label={text.segments.save} disabledReason={disabledReason} onPress={() => undefined} />
            )}
          </Group>
        </Stack>
      </form>
    </Screen>
  )
}

function Fields({
  draft,
  onChange,
  problem,
}: {
  draft: SegmentDraft
  onChange: (draft: SegmentDraft) => void
  problem: Problem | undefined
}) {
  const words = text.segments
  return (
    <>
      <TextField
        label={words.name}
        value={draft.name}
        onChange={(name) => onChange({ ...draft, name })}
        param="name"
        problem={problem}
        required
      />
      <LongTextField
        label={words.description}
        value={draft.description}
        onChange={(description) => onChange({ ...draft, description })}
        param="description"
        problem={problem}
      />
      <RulesFields
        draft={draft.rules}
        onChange={(rules) => onChange({ ...draft, rules })}
        problem={problem}
        param="rules"
      />
      <Matching rules={rulesOf(draft.rules)} />
    </>
  )
}

const previewDelayMs = 300

function Matching({ rules }: { rules: ReturnType<typeof rulesOf> }) {
  const workspace = useWorkspace()
  const [asked] = useDebouncedValue(JSON.stringify(rules), previewDelayMs)
  const { data, isError, isPlaceholderData } = useQuery({
    queryKey: [workspace.account, workspace.mode, 'segment_previews.create', asked],
    queryFn: () => unwrap(own(workspace).POST('/console/api/segment_previews', { body: { rules: JSON.parse(asked) } })),
    placeholderData: keepPreviousData,
    retry: false,
  })
  return (
    <Text component="output" display="block" aria-busy={isPlaceholderData} c={isError ? 'dimmed' : undefined}>
      {isError
        ? text.segments.unreadable
        : data === undefined
          ? ''
          : text.segments.matching(data.count, formatNumber(data.count))}
    </Text>
  )
}
