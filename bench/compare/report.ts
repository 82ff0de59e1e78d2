/** Comparisons as text. */
import { amount, table } from '../figures.ts'
import type { Comparison } from './compare.ts'
import type { Interval } from './statistics.ts'

const three = (value: number): string => value.toFixed(3)
const range = ({ low, high }: Interval): string => `${three(low)} – ${three(high)}`
const percent = (share: number): string => `${(share * 100).toFixed(share > 0.99 ? 1 : 0)} %`

export function comparisonText(comparison: Comparison, against: string): string {
  const { title, messages, rounds, quantities, performance } = comparison
  const header = ['', 'this checkout', against, 'ratio', `${percent(performance.confidence)} interval`]
  const rows = quantities.map(({ name, unit, before, after, ratio }) => [
    name,
    `${amount(after)} ${unit}`,
    `${amount(before)} ${unit}`,
    `${three(ratio.median)} ×`,
    range(ratio),
  ])
  return [
    `${title}: ${rounds.length} pairs of rounds of ${messages.toLocaleString('en-US')} messages`,
    ...table([header, ...rows]).map((line) => `  ${line}`),
    `  ${sentence(comparison)}`,
    '',
  ].join('\n')
}

export function sentence({ performance, verdict: { least, met, certain } }: Comparison): string {
  const doubt = certain ? '' : ', but not certain: use more pairs'
  return `Performance ${three(performance.median)} (${range(performance)}), wanted ≥ ${least}: ${met ? 'met' : 'MISSED'}${doubt}.`
}
