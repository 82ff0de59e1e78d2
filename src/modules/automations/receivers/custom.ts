/** What plugins and sites report in our own form: the body of `POST /v1/automation_events` without `source` (behaviour: integrations 4.7). */
import { throwFailures } from '../../../api/problem.ts'
import { ReportedEvent } from '../../../api/resources/automation-event.ts'
import { validator } from '../../../api/validation.ts'
import { parseBody } from '../../../platform/http/body.ts'
import { factsOf, type EventFacts } from '../reporting/reported.ts'

// an unknown field of the outermost object is ignored (behaviour: conventions 4.4)
const failuresOf = validator({ ...ReportedEvent, additionalProperties: true })

/** The facts of a body, at `now` (milliseconds). Throws invalid_json, parameter_missing and parameter_invalid, as the operation itself does. */
export function readCustom(body: Buffer, now: number): EventFacts {
  const given = parseBody(body)
  throwFailures(failuresOf(given))
  return factsOf(given as ReportedEvent, now)
}
