/** The plans of statements, as PostgreSQL executes them. */
import type { TestContext } from 'node:test'
import postgres from '#postgres'
import type { Pool } from '../../src/platform/database/sql.ts'
import { closing } from './closing.ts'

export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly PlanNode[]
  readonly [key: string]: unknown
}

export interface Plans {
  readonly nodes: readonly PlanNode[]
  /** Rows that scans of tables and indexes read, also those that a filter removed. */
  readonly read: number
}

export type Explain = (work: (sql: Pool) => Promise<unknown>) => Promise<Plans>

/** The result runs `work`, then explains each of its statements. */
export function explaining(t: TestContext, database_url: string): Explain {
  const statements: { text: string; values: unknown[] }[] = []
  const sql = postgres(database_url, {
    max: 1,
    debug: (_connection, text, values) => void statements.push({ text, values }),
  })
  closing(t, () => sql.end({ timeout: 1 }))
  return async (work) => {
    // types of arrays, which the driver asks for once
    await sql`select 1`
    statements.length = 0
    await work(sql as unknown as Pool)
    const nodes: PlanNode[] = []
    const walk = (node: PlanNode): void => {
      nodes.push(node)
      node.Plans?.forEach(walk)
    }
    for (const { text, values } of statements.splice(0)) {
      const [row] = await sql.unsafe<{ 'QUERY PLAN': [{ Plan: PlanNode }] }[]>(
        `explain (analyze, format json) ${text}`,
        values as string[],
      )
      walk(row!['QUERY PLAN'][0].Plan)
    }
    return { nodes, read: nodes.reduce((sum, node) => sum + readBy(node), 0) }
  }
}

function readBy(node: PlanNode): number {
  if (!node['Node Type'].endsWith('Scan') || node['Relation Name'] === undefined) return 0
  const number = (key: string) => Number(node[key] ?? 0)
  return (
    (number('Actual Rows') + number('Rows Removed by Filter') + number('Rows Removed by Index Recheck')) *
    number('Actual Loops')
  )
}

/** Whether a table of this name, or a partition of it, was read from its beginning. */
export const readsWholly = ({ nodes }: Plans, table: string): boolean =>
  nodes.some(
    (node) =>
      node['Node Type'] === 'Seq Scan' &&
      String(node['Relation Name']).startsWith(table) &&
      Number(node['Actual Rows']) > 0,
  )
