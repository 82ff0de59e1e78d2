/** What there is to see first: how messages fare, what needs somebody, and where to begin. */
import { Button, Group, List, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { own, problemOf } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { may, useOwnSession } from '../../api/session.ts'
import { useRead } from '../../api/use-api-query.ts'
import { pathTo, usePlace } from '../../app/paths.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Screen, Waiting } from '../../components/feedback/screen.tsx'
import { Region } from '../../components/format/facts.tsx'
import { numberOf, percentOf } from '../../components/format/intl.tsx'
import { PathLink, pathOfObject } from '../../components/format/links.tsx'
import { RowsTable } from '../../components/table/list-table.tsx'
import { inWords, text } from '../../text/en.ts'

type Overview = components['schemas']['Overview']

export function HomeScreen() {
  const place = usePlace()
  const overview = useRead(place, ['overview.retrieve'], () => own(place).GET('/console/api/overview'))
  return (
    <Screen
      title={text.screens.home}
      mode={place.mode}
      actions={<ApiButton request={{ method: 'GET', path: '/console/api/overview', place }} />}
    >
      {overview.isError && <ProblemAlert problem={problemOf(overview.error)} onAgain={() => void overview.refetch()} />}
      {overview.isPending && <Waiting />}
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
            {numberOf(sent)}
          </Text>
          <Text size="sm" c="dimmed">
            {words.sentWhy} {words.failed(numberOf(failed))}
          </Text>
        </Region>
        <Region title={words.rate}>
          <Text size="xl" fw={700}>
            {sent === 0 ? '–' : percentOf(delivered / sent)}
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
  const place = usePlace()
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
                to={type === 'balance_low' ? pathTo(place, 'billing') : (pathOfObject(place, id) ?? pathTo(place))}
              >
                {words.matters[type] ?? inWords(type)}
              </PathLink>
            </List.Item>
          ))}
        </List>
      )}
    </Region>
  )
}

function FirstSteps() {
  const place = usePlace()
  const session = useOwnSession()
  const { steps, first } = text.home
  const test = { ...place, mode: 'test' } as const
  const all = [
    { needs: 'messages:write', to: pathTo(test, 'messages'), label: steps.message },
    { needs: 'channels:write', to: pathTo({ ...place, mode: 'live' }, 'channels', 'new'), label: steps.channel },
    { needs: 'keys', to: pathTo(place, 'developers'), label: steps.key },
    { needs: 'webhooks:write', to: pathTo(place, 'webhooks'), label: steps.webhook },
    { needs: 'team', to: pathTo(place, 'team'), label: steps.team },
  ] as const
  return (
    <Region title={first}>
      <List type="ordered">
        {all
          .filter(({ needs }) => may(session, test, needs))
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

/** Heavy, and only here. */
const DaysChart = lazy(async () => ({ default: (await import('./days-chart.tsx')).DaysChart }))

const columns = (['date', 'sent', 'delivered', 'failed'] as const).map((name) => ({
  id: name,
  header: text.home.columns[name],
  cell: (day: Day) => (name === 'date' ? day.date : numberOf(day[name])),
}))

/** The last thirty days: as a chart, and as a table for who reads numbers or hears them. */
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
        <Suspense fallback={<Waiting />}>
          <DaysChart days={days} />
        </Suspense>
      )}
    </section>
  )
}
