/** The metrics of `/metrics` (prom-client), in a separate registry per service. */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

export type Metrics = ReturnType<typeof makeMetrics>

/** Few, because each is a series per channel type. */
const lagBuckets = [0.01, 0.05, 0.25, 1, 5, 10, 60, 300, 3600]

/** `ofProcess` adds memory, CPU and event loop. */
export function makeMetrics(ofProcess = false) {
  const registry = new Registry()
  const registers = [registry]
  if (ofProcess) collectDefaultMetrics({ register: registry })
  return {
    registry,
    ...requestMetrics(registers),
    ...messageMetrics(registers),
    ...channelMetrics(registers),
    ...eventMetrics(registers),
    ...automationMetrics(registers),
    ...databaseMetrics(registers),
    ...clientMetrics(registers),
    ...storageMetrics(registers),
    worker_failures: new Counter({
      name: 'posthorn_worker_failures_total',
      help: 'Failed runs of a worker.',
      labelNames: ['worker'],
      registers,
    }),
  }
}

const requestMetrics = (registers: Registry[]) => ({
  requests_refused: new Counter({
    name: 'posthorn_requests_refused_total',
    help: 'Error responses by code.',
    labelNames: ['code'],
    registers,
  }),
  request_seconds: new Histogram({
    name: 'posthorn_request_duration_seconds',
    help: 'From the arrival of a request to the end of its response.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers,
  }),
  rate_limit_fallbacks: new Counter({
    name: 'posthorn_rate_limit_fallbacks_total',
    help: 'Requests limited per process because Redis did not answer.',
    registers,
  }),
})

const messageMetrics = (registers: Registry[]) => ({
  messages_accepted: new Counter({
    name: 'posthorn_messages_accepted_total',
    help: 'Messages accepted.',
    labelNames: ['mode', 'channel_type'],
    registers,
  }),
  group_commit_rows: new Histogram({
    name: 'posthorn_group_commit_rows',
    help: 'Messages per group commit.',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    registers,
  }),
  dispatch_lag_seconds: new Histogram({
    name: 'posthorn_dispatch_lag_seconds',
    help: 'From the time a message was due to its send attempt.',
    labelNames: ['channel_type'],
    buckets: lagBuckets,
    registers,
  }),
  attempts: new Counter({
    name: 'posthorn_attempts_total',
    help: 'Attempts by outcome; kind is message or webhook.',
    labelNames: ['kind', 'outcome'],
    registers,
  }),
  queue_depth: new Gauge({
    name: 'posthorn_queue_depth',
    help: 'Jobs waiting, by queue.',
    labelNames: ['queue'],
    registers,
  }),
})

const eventMetrics = (registers: Registry[]) => ({
  feed_horizon_age_seconds: new Gauge({
    name: 'posthorn_feed_horizon_age_seconds',
    help: 'Age of the oldest transaction that blocks the event feed.',
    registers,
  }),
  delivery_lag_seconds: new Histogram({
    name: 'posthorn_delivery_lag_seconds',
    help: 'From the time a webhook delivery was due to its attempt.',
    buckets: lagBuckets,
    registers,
  }),
})

const databaseMetrics = (registers: Registry[]) => ({
  pool_connections: new Gauge({
    name: 'posthorn_pool_connections',
    help: 'Database connections of this process by state (in_use, max), and statements that wait for one (waiting).',
    labelNames: ['state'],
    registers,
  }),
  read_connections: new Gauge({
    name: 'posthorn_read_connections',
    help: 'Connections of this process for expensive reads by state (in_use, max), and queued reads (waiting).',
    labelNames: ['state'],
    registers,
  }),
  reads_ended: new Counter({
    name: 'posthorn_reads_ended_total',
    help: 'Expensive reads without a result, by reason: refused (no slot), abandoned (by the caller) or timed_out.',
    labelNames: ['reason'],
    registers,
  }),
})

const storageMetrics = (registers: Registry[]) => ({
  media_overdue: new Gauge({
    name: 'posthorn_media_overdue',
    help: 'Expired inbound files that could not be deleted, as of the last hourly run.',
    registers,
  }),
  clock_ahead: new Gauge({
    name: 'posthorn_clock_ahead_seconds',
    help: 'How far the clock is ahead of the trusted time, while no data expires; 0 while it is trusted.',
    registers,
  }),
  embedded_restarts: new Counter({
    name: 'posthorn_embedded_database_restarts_total',
    help: 'Restarts of the embedded database after it failed.',
    registers,
  }),
  database_writable: new Gauge({
    name: 'posthorn_database_writable',
    help: '1 while the database accepts writes; 0 after a write that failed because the database is full or unreachable, until one succeeds.',
    registers,
  }),
})

const automationMetrics = (registers: Registry[]) => ({
  automation_events: new Counter({
    name: 'posthorn_automation_events_total',
    help: 'Events of sources by outcome: accepted, ignored, skipped, failed, duplicate, or refused (also by the rate limit).',
    labelNames: ['outcome'],
    registers,
  }),
  automation_runs_overdue_seconds: new Gauge({
    name: 'posthorn_automation_runs_overdue_seconds',
    help: 'How long the oldest due run has been waiting for a worker; 0 if none is due.',
    registers,
  }),
  integration_redaction_age_seconds: new Gauge({
    name: 'posthorn_integration_redaction_age_seconds',
    help: 'Age of the oldest customer redaction request that is not done; 0 if there is none.',
    registers,
  }),
  automation_runs: new Counter({
    name: 'posthorn_automation_runs_total',
    help: 'Due automation runs by outcome: sent, refused (message not accepted), skipped, cancelled, failed, or put_off (retried later).',
    labelNames: ['outcome'],
    registers,
  }),
  automation_run_lag_seconds: new Histogram({
    name: 'posthorn_automation_run_lag_seconds',
    help: 'From the time an automation run was due to the acceptance of its message.',
    buckets: lagBuckets,
    registers,
  }),
})

const channelMetrics = (registers: Registry[]) => ({
  channels: new Gauge({
    name: 'posthorn_channels',
    help: 'Active channels by connection status.',
    labelNames: ['channel_type', 'connection_status'],
    registers,
  }),
  circuits_open: new Gauge({
    name: 'posthorn_circuits_open',
    help: 'Channels of this process with an open circuit breaker: their provider keeps failing, and messages wait.',
    labelNames: ['channel_type'],
    registers,
  }),
  channels_throttled: new Gauge({
    name: 'posthorn_channels_throttled',
    help: 'Channels of this process that their provider throttles, so that messages wait.',
    labelNames: ['channel_type'],
    registers,
  }),
  send_attempts_in_progress: new Gauge({
    name: 'posthorn_send_attempts_in_progress',
    help: 'Send attempts of this process that are in progress.',
    labelNames: ['channel_type'],
    registers,
  }),
  status_queries: new Counter({
    name: 'posthorn_status_queries_total',
    help: 'Status queries to providers after a send attempt without an answer, by outcome (found, not_found, refused, no_information, no_answer, throttled).',
    labelNames: ['outcome'],
    registers,
  }),
})

const clientMetrics = (registers: Registry[]) => ({
  connections_open: new Gauge({ name: 'posthorn_connections', help: 'Open client connections.', registers }),
  console_streams: new Gauge({
    name: 'posthorn_console_streams',
    help: 'Consoles that receive live updates.',
    registers,
  }),
  requests_unlogged: new Counter({
    name: 'posthorn_requests_unlogged_total',
    help: "Requests missing in the console's request log, because the buffer of the process was full.",
    registers,
  }),
  connections_refused: new Counter({
    name: 'posthorn_connections_refused_total',
    help: 'Connections refused by a limit; reason is all or address.',
    labelNames: ['reason'],
    registers,
  }),
  connections_closed: new Counter({
    name: 'posthorn_connections_closed_total',
    help: 'Silent, slow or idle connections that were closed; reason is headers_timeout, body_timeout, idle or displaced (by a new one).',
    labelNames: ['reason'],
    registers,
  }),
})
