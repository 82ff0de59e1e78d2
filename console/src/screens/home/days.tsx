/** The last thirty days: as a chart, and as a table for who reads numbers or hears them. */
import { Button, Group, Title } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import type { components } from '../../api/generated/own.ts'
import { numberOf } from '../../parts/amounts.ts'
import { RowsTable } from '../../parts/list-table.tsx'
import { Waiting } from '../../parts/states.tsx'
import { text } from '../../text/en.ts'

type Day = components['schemas']['Overview']['days'][number]

/** Heavy, and only here. */
const DaysChart = lazy(async () => ({ default: (await import('./days-chart.tsx')).DaysChart }))

const columns = (['date', 'sent', 'delivered', 'failed'] as const).map((name) => ({
  id: name,
  header: text.home.columns[name],
  cell: (day: Day) => (name === 'date' ? day.date : numberOf(day[name])),
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
        <Suspense fallback={<Waiting />}>
          <DaysChart days={days} />
        </Suspense>
      )}
    </section>
  )
}
