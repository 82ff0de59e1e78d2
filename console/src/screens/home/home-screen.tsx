/** What there is to see first: how messages fare, what needs somebody, and where to begin. */
import { List, SimpleGrid, Stack, Text } from '@mantine/core'
import { own } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { may } from '../../api/may.ts'
import { problemOf } from '../../api/problem.ts'
import { useOwnSession } from '../../api/session.ts'
import { useRead } from '../../api/use-read.ts'
import { numberOf, percentOf } from '../../parts/amounts.ts'
import { ApiButton } from '../../parts/api-button.tsx'
import { Region } from '../../parts/facts.tsx'
import { pathOfObject } from '../../parts/object-path.ts'
import { PathLink } from '../../parts/path-link.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Waiting } from '../../parts/states.tsx'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import { inWords, text } from '../../text/en.ts'
import { Days } from './days.tsx'

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
