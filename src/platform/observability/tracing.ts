/** Traces: which request a message and its events come from, and spans of what is done where somebody records them (docs/decisions/tracing.md). */
import type { TraceContext } from '../../lib/trace-context.ts'

export type SpanKind = 'server' | 'client'
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

/** Something that takes time. */
export interface Span {
  readonly context: TraceContext
  /** `failed`: by a fault of ours, or of who was called. */
  end(told: { readonly name?: string; readonly attributes: SpanAttributes; readonly failed: boolean }): void
}

/** Who records spans. */
export interface SpanRecorder {
  start(name: string, kind: SpanKind, parent: TraceContext | undefined, attributes: SpanAttributes): Span
  /** Passes on what is recorded, for two seconds at most. */
  stop(): Promise<void>
}

export interface Tracing {
  readonly isRecording: boolean
  /** Undefined where nobody records. */
  start(name: string, kind: SpanKind, parent: TraceContext | undefined, attributes: SpanAttributes): Span | undefined
  /** Keeps which trace a message or an event is of, in memory alone: ten thousand or so of the newest. */
  remember(id: string, trace: TraceContext): void
  /** An event is of the trace of its object. */
  follow(event_id: string, object_id: string): void
  of(id: string): TraceContext | undefined
  stop(): Promise<void>
}

const rememberedMax = 10_000

export function tracing(recorder: SpanRecorder | undefined): Tracing {
  const known = new Map<string, TraceContext>()
  const remember = (id: string, trace: TraceContext): void => {
    known.set(id, trace)
    if (known.size > rememberedMax) known.delete(known.keys().next().value!)
  }
  return {
    isRecording: recorder !== undefined,
    start: (name, kind, parent, attributes) => recorder?.start(name, kind, parent, attributes),
    remember,
    follow(event_id, object_id) {
      if (known.size === 0) return
      const trace = known.get(object_id)
      if (trace !== undefined) remember(event_id, trace)
    },
    of: (id) => (known.size === 0 ? undefined : known.get(id)),
    async stop() {
      await recorder?.stop()
    },
  }
}
