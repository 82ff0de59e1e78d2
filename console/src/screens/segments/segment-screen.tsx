/** A segment, new or stored: its name and rules, and how many contacts they find. */
import { Button, Group, Stack } from '@mantine/core'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useBecause } from '../../api/may.ts'
import type { Problem } from '../../api/problem.ts'
import { useAction } from '../../api/use-action.ts'
import { useRead } from '../../api/use-read.ts'
import { useStale } from '../../api/use-stale.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ApiButton, type ApiRequest } from '../../parts/api-button.tsx'
import { Done } from '../../parts/done.tsx'
import { LongTextField, TextField } from '../../parts/fields.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Outdated } from '../../parts/outdated.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { RulesFields } from '../../parts/rules-fields.tsx'
import { Matching } from './matching.tsx'
import { draftOf, firstRules, rulesOf, type RulesDraft } from '../../parts/rules.ts'
import { Screen } from '../../parts/screen.tsx'
import { useDraft } from '../../parts/use-draft.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo, type Place } from '../../paths.ts'
import { text } from '../../text/en.ts'

type Segment = components['schemas']['Segment']

interface SegmentDraft {
  readonly name: string
  readonly description: string
  readonly rules: RulesDraft
}

export function NewSegmentScreen() {
  const place = usePlace()
  return (
    <SegmentForm
      stored={undefined}
      title={text.segments.create}
      first={{ name: '', description: '', rules: firstRules }}
      place={place}
    />
  )
}

export function SegmentScreen() {
  const place = usePlace()
  const { id } = useParams({ strict: false }) as { id: string }
  const segment = useRead(place, ['segments.retrieve', id], () =>
    v1(place).GET('/v1/segments/{id}', { params: { path: { id } } }),
  )
  return (
    <Loaded title={text.screens.segments} query={segment}>
      {(stored) => {
        const { name, description, rules } = stored
        return (
          <SegmentForm
            key={id}
            stored={stored}
            title={name}
            first={{ name, description, rules: draftOf(rules) }}
            place={place}
          />
        )
      }}
    </Loaded>
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
  place,
}: {
  stored: Segment | undefined
  title: string
  first: SegmentDraft
  place: Place
}) {
  const navigate = useNavigate()
  const stale = useStale(place)
  const because = useBecause(place)('contacts:write')
  const [done, setDone] = useState('')
  const [draft, change, forget, { isOutdated }] = useDraft(place, `segment ${stored?.id ?? 'new'}`, first)
  const save = useAction(
    (body: { name: string; description: string; rules: never }, key) =>
      answered(
        stored === undefined
          ? v1(place).POST('/v1/segments', { body, headers: { 'Idempotency-Key': key } })
          : v1(place).PATCH('/v1/segments/{id}', { body, params: { path: { id: stored.id } } }),
      ),
    async (segment) => {
      forget()
      await stale('segments.')
      setDone(text.segments.saved(segment.name))
      if (stored === undefined) await navigate({ to: pathTo(place, 'segments', segment.id) as never })
    },
  )
  const rules = rulesOf(draft.rules)
  const body = { name: draft.name, description: draft.description, rules: rules as never }
  return (
    <Screen title={title} mode={place.mode} actions={<ApiButton request={requestOf(stored, body)} />}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (because === undefined) save.run(body)
        }}
      >
        <Stack maw="60rem">
          <Done text={done} />
          <Outdated when={isOutdated} onGivenUp={forget} />
          <Fields draft={draft} onChange={change} problem={save.problem} />
          {save.problem !== undefined && <ProblemAlert problem={save.problem} />}
          <Group>
            {because === undefined ? (
              <Button type="submit" loading={save.isRunning}>
                {text.segments.save}
              </Button>
            ) : (
              <ActionButton label={text.segments.save} because={because} onPress={() => undefined} />
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
