/** Simulates an automation; sends and stores nothing. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { unwrap, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useApiQuery } from '../../api/use-api-query.ts'
import type { Workspace } from '../../app/paths.ts'
import { Bubble } from '../../components/content/bubble.tsx'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { Dialog } from '../../components/feedback/dialog.tsx'
import { ChoiceField, LongTextField } from '../../components/form/fields.tsx'
import { DescriptionList, Region, Status } from '../../components/format/facts.tsx'
import { useTimeFormat } from '../../components/format/intl.tsx'
import { humanize, text } from '../../text/en.ts'

const words = text.automations.simulation

type Simulation = components['schemas']['AutomationSimulation']
type Asked = components['schemas']['AutomationSimulationRequest']

const sampleOf = (type: string): string =>
  JSON.stringify(
    {
      type,
      customer: { phone: '+15005550006', email: 'ada@example.com', first_name: 'Ada' },
      data: { order: { number: '1042', total: '59.99', currency: 'EUR', url: 'https://shop.example.com/orders/1042' } },
    },
    null,
    2,
  )

function parsed(json: string): Asked['event'] {
  try {
    const value = JSON.parse(json) as Asked['event']
    return typeof value === 'object' ? value : undefined
  } catch {
    return undefined
  }
}

interface SimulateProps {
  readonly workspace: Workspace
  readonly id: string
  readonly source: string
  readonly type: string
  readonly onClose: () => void
}

const lastMax = 10
const written = 'written'

export function SimulateDialog({ workspace, id, source, type, onClose }: SimulateProps) {
  const time = useTimeFormat()
  const asked = { source, type, limit: lastMax }
  const receipts = useApiQuery(workspace, ['automation_events.list', asked], () =>
    v1(workspace).GET('/v1/automation_events', { params: { query: asked } }),
  )
  const last = receipts.data?.data ?? []
  const [chosen, choose] = useState<string>()
  const of = chosen ?? last[0]?.id ?? written
  const [json, setJson] = useState(() => sampleOf(type))
  const event = parsed(json)
  const action = useApiMutation((body: Asked) =>
    unwrap(v1(workspace).POST('/v1/automations/{id}/simulate', { params: { path: { id } }, body })),
  )
  const body: Asked | undefined =
    of !== written ? { automation_event_id: of } : event === undefined || event === null ? undefined : { event }
  return (
    <Dialog title={text.automations.form.simulate} isOpen onClose={onClose} size="lg">
      <Stack>
        <Text size="sm">{words.why}</Text>
        {last.length > 0 && (
          <ChoiceField
            label={words.last}
            hint={words.lastHint}
            choices={[
              ...last.map(({ id: value, created_at }) => ({ value, label: `${time(created_at)} · ${value}` })),
              { value: written, label: words.written },
            ]}
            value={of}
            onChange={choose}
          />
        )}
        {of === written && (
          <LongTextField
            label={words.event}
            hint={words.eventHint}
            isCode
            value={json}
            onChange={setJson}
            param="event"
            problem={action.problem}
            error={event === undefined ? words.notJson : undefined}
          />
        )}
        {action.problem !== undefined && <ProblemAlert problem={action.problem} />}
        {action.result !== undefined && <Outcome simulation={action.result} />}
        <Group justify="flex-end">
          <Button
            loading={action.isRunning}
            disabled={body === undefined}
            onClick={() => body !== undefined && action.run(body)}
          >
            {text.automations.form.simulate}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

function Outcome({ simulation: { status, reason, conditions, scheduled_for, message } }: { simulation: Simulation }) {
  const time = useTimeFormat()
  const type = typeof message?.['type'] === 'string' ? message['type'] : undefined
  const rules = conditions.map(({ field, met }) => `${field}: ${met ? words.met : words.unmet}`)
  return (
    <Region title={words.result}>
      <Stack gap="sm">
        <DescriptionList
          of={[
            [words.status, <Status key="status" status={status} />],
            [words.reason, reason === null ? null : humanize(reason)],
            [words.at, scheduled_for === null ? null : time(scheduled_for)],
            [words.rules, rules.length === 0 ? null : rules.join(', ')],
          ]}
        />
        {message !== null && type !== undefined && <Bubble type={type} content={message} isOurs />}
      </Stack>
    </Region>
  )
}
