/**
 * Exports spans by OTLP over HTTP (https://opentelemetry.io/docs/specs/otlp/). Loaded only when an endpoint is
 * configured.
 */
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags, type SpanContext } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace'
import type { Clock } from '../../lib/clock.ts'
import type { TraceContext } from '../../lib/trace-context.ts'
import type { Log } from './log.ts'
import type { TraceSettings } from '../../config/settings.ts'
import type { SpanAttributes, SpanRecorder } from './tracing.ts'

const stopMs = 2_000
const exportMs = 10_000
/** Further spans are lost. */
const queueMax = 2_048
const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const

export function openTelemetry(
  { address, service_name, sampler, ratio }: TraceSettings,
  version: string,
  clock: Clock,
  log: Log,
): SpanRecorder {
  const exporter = loggingChanges(new OTLPTraceExporter({ url: address, timeoutMillis: exportMs }), log)
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service_name, 'service.version': version }),
    sampler: samplerOf(sampler, ratio),
    spanProcessors: [new BatchSpanProcessor({ exporter, maxQueueSize: queueMax, exportTimeoutMillis: exportMs })],
  })
  const tracer = provider.getTracer('posthorn', version)
  return {
    start(name, kind, parent, attributes) {
      const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContextOf(parent))
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes: withoutUndefined(attributes) }, context)
      const { traceId, spanId, traceFlags } = span.spanContext()
      return {
        context: { trace_id: traceId, span_id: spanId, sampled: (traceFlags & TraceFlags.SAMPLED) !== 0 },
        end({ name: renamed, attributes: attributes_at_end, failed }) {
          if (renamed !== undefined) span.updateName(renamed)
          span.setAttributes(withoutUndefined(attributes_at_end))
          if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
          span.end()
        },
      }
    },
    async stop() {
      const finished = new AbortController()
      // a hanging collector must not delay the shutdown
      await Promise.race([provider.shutdown().catch(() => undefined), clock.sleep(stopMs, finished.signal)])
      finished.abort()
    },
  }
}

const spanContextOf = ({ trace_id, span_id, sampled }: TraceContext): SpanContext => ({
  traceId: trace_id,
  spanId: span_id,
  traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
  isRemote: true,
})

const withoutUndefined = (attributes: SpanAttributes) =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))

function samplerOf(name: TraceSettings['sampler'], ratio: number): Sampler {
  const root = name.endsWith('always_off')
    ? new AlwaysOffSampler()
    : name.endsWith('traceidratio')
      ? new TraceIdRatioBasedSampler(ratio)
      : new AlwaysOnSampler()
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root
}

function loggingChanges(exporter: SpanExporter, log: Log): SpanExporter {
  let failing = false
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined
        if (failed && !failing)
          log.warn(
            { err: result.error },
            'spans cannot be passed on to OTEL_EXPORTER_OTLP_ENDPOINT, and are lost until they can',
          )
        if (!failed && failing) log.info('spans are passed on again')
        failing = failed
        done(result)
      })
    },
    forceFlush: async () => await exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  }
}
