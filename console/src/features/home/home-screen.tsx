/** Home: statistics, problems that need attention, and first steps. */
import { Button, Group, List, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { own, problemOf } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { isAllowed, useRequiredSession } from '../../api/session.ts'
import { useApiQuery } from '../../api/use-api-query.ts'
import { pathTo, useWorkspace } from '../../app/paths.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Screen, LoadingIndicator } from '../../components/feedback/screen.tsx'
import { Region } from '../../components/format/facts.tsx'
import { formatNumber, formatPercent } from '../../components/format/intl.tsx'
import { PathLink, pathOfObject } from '../../components/format/links.tsx'
import { RowsTable } from '../../components/table/list-table.tsx'
import { humanize, text } from '../../text/en.ts'

type Overview = components['schemas']['Overview']

export function HomeScreen() {
  const workspace = useWorkspace()
  const overview = useApiQuery(workspace, ['overview.retrieve'], () => own(workspace).GET('/console/api/overview'))
  return (
    <Screen
      title={text.screens.home}
      mode={workspace.mode}
      actions={<ApiButton request={{ method: 'GET', path: '/console/api/overview', workspace }} />}
    >
      {overview.isError && <ProblemAlert problem={problemOf(overview.error)} onRetry={() => void overview.refetch()} />}
      {overview.isPending && <LoadingIndicator />}
      {overview.data !== undefined && <Shown overview={overview.data} />}
    </Screen>
  )
}

function Shown({ overview }: { overview: Overview }) {
  const { sent, delivered, failed, days } = overview
  const words = text.home
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Region title={words.sent}>
          <Text size="xl" fw={700}>
            {formatNumber(sent)}
          </Text>
          <Text size="sm" c="dimmed">
            {words.sentWhy} {words.failed(formatNumber(failed))}
          </Text>
        </Region>
        <Region title={words.rate}>
          <Text size="xl" fw={700}>
            {sent === 0 ? '–' : formatPercent(delivered / sent)}
          </Text>
          <Text size="sm" c="dimmed">
            {sent === 0 ? words.noRate : words.rateWhy}
          </Text>
        </Region>
      </SimpleGrid>
      <Days days={days} />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Attention matters={overview.needs_attention} />
        <FirstSteps />
      </SimpleGrid>
    </Stack>
  )
}

function Attention({ matters }: { matters: Overview['needs_attention'] }) {
  const workspace = useWorkspace()
  const words = text.home
  return (
    <Region title={words.attention}>
      {matters.length === 0 ? (
        <Text size="sm">{words.nothing}</Text>
      ) : (
        <List>
          {matters.map(({ type, id }) => (
            <List.Item key={`${type} ${id}`}>
              <PathLink
                to={
                  type === 'balance_low'
                    ? pathTo(workspace, 'billing')
                    : (pathOfObject(workspace, id) ?? pathTo(workspace))
                }
              >
                {words.matters[type] ?? humanize(type)}
              </PathLink>
            </List.Item>
          ))}
        </List>
      )}
    </Region>
  )
}

function FirstSteps() {
  const workspace = useWorkspace()
  const session = useRequiredSession()
  const { steps, first } = text.home
  const test = { ...workspace, mode: 'test' } as const
  const all = [
    { needs: 'messages:write', to: pathTo(test, 'messages'), label: steps.message },
    { needs: 'channels:write', to: pathTo({ ...workspace, mode: 'live' }, 'channels', 'new'), label: steps.channel },
    { needs: 'keys', to: pathTo(workspace, 'developers'), label: steps.key },
    { needs: 'webhooks:write', to: pathTo(workspace, 'webhooks'), label: steps.webhook },
    { needs: 'team', to: pathTo(workspace, 'team'), label: steps.team },
  ] as const
  return (
    <Region title={first}>
      <List type="ordered">
        {all
          .filter(({ needs }) => isAllowed(session, test, needs))
          .map(({ to, label }) => (
            <List.Item key={to}>
              <PathLink to={to}>{label}</PathLink>
            </List.Item>
          ))}
        <List.Item>
          <a className="plain-link" href="/docs/guides/first-message">
            {steps.guide}
          </a>
        </List.Item>
      </List>
    </Region>
  )
}

type Day = components['schemas']['Overview']['days'][number]

/** Recharts is large and used only here. */
const DaysChart = lazy(async () => ({ default: (await import('./days-chart.tsx')).DaysChart }))

const columns = (['date', 'sent', 'delivered', 'failed'] as const).map((name) => ({
  id: name,
  header: text.home.columns[name],
  cell: (day: Day) => (name === 'date' ? day.date : formatNumber(day[name])),
}))

export function Days({ days }: { days: readonly Day[] }) {
  const [isTable, setTable] = useState(false)
  const words = text.home
  return (
    <section aria-label={words.chart}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          {words.chart}
        </Title>
        <Button variant="default" size="xs" onClick={() => setTable(!isTable)}>
          {isTable ? words.asChart : words.asTable}
        </Button>
      </Group>
      {isTable ? (
        <RowsTable name={words.chart} columns={columns} rows={days.map((day) => ({ ...day, id: day.date }))} />
      ) : (
        <Suspense fallback={<LoadingIndicator />}>
          <DaysChart days={days} />
        </Suspense>
      )}
    </section>
  )
}
