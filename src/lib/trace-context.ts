/** Which trace a piece of work belongs to, as W3C Trace Context has it in the header `traceparent` (https://www.w3.org/TR/trace-context/). */
import { AsyncLocalStorage } from 'node:async_hooks'

export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly trace_id: string
  /** 16 hexadecimal digits: of the span that is the parent of what follows. */
  readonly span_id: string
  /** Whether who began the trace records it. */
  readonly sampled: boolean
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const lengthMax = 512

/** Of the header; undefined where it is none, as for whatever is not of the form. A later version may have more at its end. */
export function readTraceparent(header: string | readonly string[] | undefined): TraceContext | undefined {
  if (typeof header !== 'string' || header.length > lengthMax) return undefined
  const [, version, trace_id, span_id, flags, more] = form.exec(header) ?? []
  if (trace_id === undefined || span_id === undefined || version === 'ff' || (version === '00' && more !== undefined))
    return undefined
  if (/^0+$/.test(trace_id) || /^0+$/.test(span_id)) return undefined
  return { trace_id, span_id, sampled: (Number.parseInt(flags!, 16) & 1) === 1 }
}

export const traceparentOf = ({ trace_id, span_id, sampled }: TraceContext): string =>
  `00-${trace_id}-${span_id}-${sampled ? '01' : '00'}`

const current = new AsyncLocalStorage<TraceContext>()

/** Does work as part of a trace: the HTTP client passes it on. Undefined: of none. */
export const withinTrace = <T>(trace: TraceContext | undefined, work: () => T): T =>
  trace === undefined ? work() : current.run(trace, work)

/** The header of requests that are made now; none outside of a trace. */
export function traceHeaders(): Readonly<Record<string, string>> | undefined {
  const trace = current.getStore()
  return trace && { traceparent: traceparentOf(trace) }
}
