/** A bar chart of messages per day. */
import { Bar, BarChart, CartesianGrid, Legend, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'
import type { components } from '../../api/generated/own.ts'
import { text } from '../../text/en.ts'

type Day = components['schemas']['Overview']['days'][number]

const heightPx = 240
const barGapPx = 1

export function DaysChart({ days }: { days: readonly Day[] }) {
  const { columns, chart } = text.home
  return (
    <figure className="chart" aria-label={chart}>
      <ResponsiveContainer width="100%" height={heightPx}>
        <BarChart
          data={[...days]}
          accessibilityLayer={false}
          barGap={0}
          barCategoryGap={barGapPx}
          margin={{ top: 8, right: 8, bottom: 0, left: 0 }}
        >
          <CartesianGrid vertical={false} stroke="var(--mantine-color-default-border)" />
          <XAxis
            dataKey="date"
            tickFormatter={(date: string) => date.slice(5)}
            stroke="var(--mantine-color-dimmed)"
            fontSize={12}
            minTickGap={24}
          />
          <YAxis allowDecimals={false} width={44} stroke="var(--mantine-color-dimmed)" fontSize={12} />
          <Tooltip
            cursor={false}
            contentStyle={{
              background: 'var(--mantine-color-body)',
              borderColor: 'var(--mantine-color-default-border)',
            }}
            itemStyle={{ color: 'var(--mantine-color-text)' }}
          />
          <Legend />
          <Bar dataKey="sent" name={columns.sent} fill="var(--mantine-color-blue-6)" isAnimationActive={false} />
          <Bar
            dataKey="delivered"
            name={columns.delivered}
            fill="var(--mantine-color-teal-6)"
            isAnimationActive={false}
          />
          <Bar dataKey="failed" name={columns.failed} fill="var(--mantine-color-red-6)" isAnimationActive={false} />
        </BarChart>
      </ResponsiveContainer>
    </figure>
  )
}
