/** What is wrong with a form beside what stands at its fields: nothing where every detail stands at one of them. */
import type { Problem } from '../api/problem.ts'
import { ProblemAlert } from './problem-alert.tsx'

/** `fields` are the API's names of the form's fields. */
export function FormProblem({ problem, fields }: { problem: Problem | undefined; fields: readonly string[] }) {
  if (problem === undefined) return null
  const isAtField = (param: string) =>
    fields.some((field) => param === field || param.startsWith(`${field}.`) || param.startsWith(`${field}[`))
  if (problem.details.length > 0 && problem.details.every(({ param }) => isAtField(param))) return null
  return <ProblemAlert problem={problem} />
}
