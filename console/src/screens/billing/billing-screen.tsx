/** Money: what there is, what it went for, and every entry of the ledger. */
import { SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { v1 } from '../../api/client.ts'
import { useBecause } from '../../api/may.ts'
import { problemOf } from '../../api/problem.ts'
import { useRead } from '../../api/use-read.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { dollarsOf, numberOf } from '../../parts/amounts.ts'
import { ApiButton } from '../../parts/api-button.tsx'
import { Facts, Region } from '../../parts/facts.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Screen } from '../../parts/screen.tsx'
import { usePlace } from '../../parts/use-place.ts'
import { text } from '../../text/en.ts'
import { Ledger } from './ledger.tsx'
import { Packages, Prices } from './packages.tsx'
import { TopUp, useTopUps } from './top-up.tsx'
import { UsageRegion } from './usage.tsx'

export function BillingScreen() {
  const place = usePlace()
  const because = useBecause(place)('top_up')
  const [isOpen, setOpen] = useState(false)
  const topUps = useTopUps(place)
  const words = text.billing
  return (
    <Screen
      title={text.screens.billing}
      mode={place.mode}
      actions={
        <>
          <ApiButton request={{ operation: 'balance.retrieve', method: 'GET', path: '/v1/balance' }} />
          {topUps.areOffered && (
            <ActionButton
              label={words.topUp}
              because={place.mode === 'test' ? words.testMode : because}
              onPress={() => setOpen(true)}
            />
          )}
        </>
      }
    >
      <Stack gap="lg">
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <Wallet />
          <UsageRegion />
        </SimpleGrid>
        <Ledger />
        <Section title={words.packages}>
          <Packages />
        </Section>
        <Section title={words.prices}>
          <Prices />
        </Section>
      </Stack>
      {isOpen && <TopUp onClose={() => setOpen(false)} />}
    </Screen>
  )
}

function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div>
      <Title order={2} size="h4" mb="xs">
        {title}
      </Title>
      {children}
    </div>
  )
}

function Wallet() {
  const place = usePlace()
  const balance = useRead(place, ['balance.retrieve'], () => v1(place).GET('/v1/balance'))
  const words = text.billing
  return (
    <Region title={words.wallet}>
      {balance.data !== undefined && (
        <Facts
          of={[
            [
              words.balance,
              <Text key="balance" span fw={600}>
                {dollarsOf(balance.data.wallet_micros)}
              </Text>,
            ],
            [words.credits, numberOf(balance.data.credits_remaining)],
          ]}
        />
      )}
      {balance.isError && <ProblemAlert problem={problemOf(balance.error)} onAgain={() => void balance.refetch()} />}
    </Region>
  )
}
