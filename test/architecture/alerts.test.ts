/** Alerts and dashboards use existing metrics, and every alert has a runbook section. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { makeMetrics } from '../../src/platform/observability/metrics.ts'
import { root } from './sources.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const alerts = read('deploy/prometheus/alerts.yml')
const dashboard = JSON.parse(read('deploy/grafana/posthorn.json')) as {
  panels: { title: string; targets: { expr: string }[] }[]
}

const ofPrometheus = ['instance', 'job', 'le']

async function scraped(): Promise<Map<string, readonly string[]>> {
  const { registry } = makeMetrics(true)
  const found = new Map<string, readonly string[]>([['up', []]])
  for (const { name, type } of await registry.getMetricsAsJSON()) {
    const { labelNames = ['method', 'route', 'status'] } = registry.getSingleMetric(name) as unknown as {
      labelNames?: string[]
    }
    const names = String(type) === 'histogram' ? ['_bucket', '_count', '_sum'].map((end) => name + end) : [name]
    for (const one of names) found.set(one, labelNames)
  }
  return found
}

function unknownIn(expr: string, known: ReadonlyMap<string, readonly string[]>): string[] {
  const names = [...expr.matchAll(/\b(?:posthorn|process|nodejs)_[a-z_]+|\bup\b/g)].map(([name]) => name)
  const labels = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(', '))
  const matched = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, list]) =>
    list!.split(', ').map((one) => /^\w+/.exec(one)![0]),
  )
  const has = new Set([...ofPrometheus, ...names.flatMap((name) => known.get(name) ?? [])])
  return [
    ...names.filter((name) => !known.has(name)),
    ...[...labels, ...matched].filter((label) => !has.has(label)),
    ...(names.length === 0 ? [`none in ${expr}`] : []),
  ]
}

test('alerts use existing metrics and labels', async () => {
  const known = await scraped()
  const rules = [...alerts.matchAll(/alert: (\w+)\n\s+expr: '(.*)'\n/g)].map(([, name, expr]) => ({
    name: name!,
    expr: expr!,
  }))

  assert.equal(rules.length, alerts.split('- alert:').length - 1)
  assert.ok(rules.length > 10)
  assert.deepEqual(
    rules.flatMap(({ name, expr }) => unknownIn(expr, known).map((unknown) => `${name}: ${unknown}`)),
    [],
  )
})

test('the dashboard shows existing metrics and labels', async () => {
  const known = await scraped()

  assert.deepEqual(
    dashboard.panels.flatMap(({ title, targets }) =>
      targets.flatMap(({ expr }) => unknownIn(expr, known).map((unknown) => `${title}: ${unknown}`)),
    ),
    [],
  )
})

test('an unknown metric or label is reported', async () => {
  const known = await scraped()

  assert.deepEqual(unknownIn('rate(posthorn_messages_sent_total[5m])', known), ['posthorn_messages_sent_total'])
  assert.deepEqual(unknownIn('sum by (colour) (posthorn_queue_depth{shape="round"})', known), ['colour', 'shape'])
})

test('every alert has a severity, a sentence and a runbook section, and every section its alert', () => {
  const named = [
    ...alerts.matchAll(
      /- alert: (\w+)\n.*\n\s+for: \w+\n\s+labels: \{ severity: (?:page|ticket) \}\n\s+annotations:\n\s+summary: '.+'\n\s+runbook_url: '(.+)'\n/g,
    ),
  ]
  const sections = [...read('docs/guides/alerts.md').matchAll(/^## (\w+)$/gm)].map(([, name]) => name!)

  assert.deepEqual(
    named.map(([, name]) => name!),
    sections,
  )
  for (const [, name, link] of named) assert.equal(link, `/docs/guides/alerts#${name!.toLowerCase()}`)
})
