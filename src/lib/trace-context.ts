/** W3C Trace Context, the header `traceparent` (https://www.w3.org/TR/trace-context/). */
import { AsyncLocalStorage } from 'node:async_hooks'

export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly trace_id: string
  /** 16 hexadecimal digits. */
  readonly span_id: string
  readonly sampled: boolean
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const lengthMax = 512

/** Undefined if the header is missing or malformed. Later versions may append fields. */
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

/** The HTTP client propagates the trace. */
export const withinTrace = <T>(trace: TraceContext | undefined, work: () => T): T =>
  trace === undefined ? work() : current.run(trace, work)

/** Undefined outside of a trace. */
export function traceHeaders(): Readonly<Record<string, string>> | undefined {
  const trace = current.getStore()
  return trace && { traceparent: traceparentOf(trace) }
}
