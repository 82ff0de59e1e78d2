/** The metrics of `/metrics` (prom-client), in a separate registry per service. */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

export type Metrics = ReturnType<typeof makeMetrics>

/** Few buckets, because each is a series per channel type. */
const lagBuckets = [0.01, 0.05, 0.25, 1, 5, 10, 60, 300, 3600]

/** `ofProcess` adds memory, CPU and event loop. Durations are in seconds. */
export function makeMetrics(ofProcess = false) {
  const registry = new Registry()
  const registers = [registry]
  if (ofProcess) collectDefaultMetrics({ register: registry })
  return {
    registry,
    messages_accepted: new Counter({
      name: 'posthorn_messages_accepted_total',
      help: 'Messages accepted.',
      labelNames: ['mode', 'channel_type'],
      registers,
    }),
    requests_refused: new Counter({
      name: 'posthorn_requests_refused_total',
      help: 'Requests answered with an error, by its code.',
      labelNames: ['code'],
      registers,
    }),
    request_seconds: new Histogram({
      name: 'posthorn_request_duration_seconds',
      help: 'From the arrival of a request to the end of its answer.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      registers,
    }),
    dispatch_lag_seconds: new Histogram({
      name: 'posthorn_dispatch_lag_seconds',
      help: 'From the time a message was due to its handing over.',
      labelNames: ['channel_type'],
      buckets: lagBuckets,
      registers,
    }),
    delivery_lag_seconds: new Histogram({
      name: 'posthorn_delivery_lag_seconds',
      help: 'From the time a webhook delivery was due to its attempt.',
      buckets: lagBuckets,
      registers,
    }),
    attempts: new Counter({
      name: 'posthorn_attempts_total',
      help: 'Attempts by outcome; kind is message or webhook.',
      labelNames: ['kind', 'outcome'],
      registers,
    }),
    ...channelMetrics(registers),
    queue_depth: new Gauge({
      name: 'posthorn_queue_depth',
      help: 'Jobs waiting, by queue.',
      labelNames: ['queue'],
      registers,
    }),
    feed_horizon_age_seconds: new Gauge({
      name: 'posthorn_feed_horizon_age_seconds',
      help: 'Age of the oldest transaction that blocks the event feed.',
      registers,
    }),
    ...databaseMetrics(registers),
    ...clientMetrics(registers),
    group_commit_rows: new Histogram({
      name: 'posthorn_group_commit_rows',
      help: 'Messages that one commit took.',
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
      registers,
    }),
    rate_limit_fallbacks: new Counter({
      name: 'posthorn_rate_limit_fallbacks_total',
      help: 'Requests limited per process because Redis did not answer.',
      registers,
    }),
    ...storageMetrics(registers),
    ...automationMetrics(registers),
    worker_failures: new Counter({
      name: 'posthorn_worker_failures_total',
      help: 'Failed passes of a worker.',
      labelNames: ['worker'],
      registers,
    }),
  }
}

function databaseMetrics(registers: Registry[]) {
  return {
    pool_connections: new Gauge({
      name: 'posthorn_pool_connections',
      help: 'Database connections of this process by state (in_use, max), and what waits for one (waiting).',
      labelNames: ['state'],
      registers,
    }),
    read_connections: new Gauge({
      name: 'posthorn_read_connections',
      help: 'Connections of this process for expensive reads by state (in_use, max), and the reads that wait for their turn (waiting).',
      labelNames: ['state'],
      registers,
    }),
    reads_ended: new Counter({
      name: 'posthorn_reads_ended_total',
      help: 'Expensive reads that got no result: refused after their wait, abandoned by their caller, or timed_out.',
      labelNames: ['reason'],
      registers,
    }),
  }
}

const storageMetrics = (registers: Registry[]) => ({
  media_overdue: new Gauge({
    name: 'posthorn_media_overdue',
    help: 'Files that came in whose retention is over and that could not be removed, as of the last hourly pass.',
    registers,
  }),
  clock_ahead: new Gauge({
    name: 'posthorn_clock_ahead_seconds',
    help: 'How far the clock has jumped ahead of what is believed, by which nothing ages out; 0 where it is believed.',
    registers,
  }),
  embedded_restarts: new Counter({
    name: 'posthorn_embedded_database_restarts_total',
    help: 'How often the embedded database went away and was brought back.',
    registers,
  }),
  database_writable: new Gauge({
    name: 'posthorn_database_writable',
    help: '1 while the database takes writes; 0 after one that failed for want of room or of the database, until one succeeds.',
    registers,
  }),
})

const automationMetrics = (registers: Registry[]) => ({
  automation_events: new Counter({
    name: 'posthorn_automation_events_total',
    help: 'Reported events, by what they came to: accepted, ignored, skipped, failed, duplicate, or refused (also those that came too many at once).',
    labelNames: ['outcome'],
    registers,
  }),
  automation_runs_overdue_seconds: new Gauge({
    name: 'posthorn_automation_runs_overdue_seconds',
    help: "For how long the run that was to be taken up first has been due in nobody's hand; 0 where none is due.",
    registers,
  }),
  integration_redaction_age_seconds: new Gauge({
    name: 'posthorn_integration_redaction_age_seconds',
    help: 'How long ago a platform asked for the oldest redaction of a customer that is not done; 0 where all are.',
    registers,
  }),
  automation_runs: new Counter({
    name: 'posthorn_automation_runs_total',
    help: 'Runs of automations that were due, by what they came to: sent, refused when they were to be accepted, skipped, cancelled, failed, or put_off to be tried again.',
    labelNames: ['outcome'],
    registers,
  }),
  automation_run_lag_seconds: new Histogram({
    name: 'posthorn_automation_run_lag_seconds',
    help: 'From the time a run of an automation was due to the acceptance of its message.',
    buckets: lagBuckets,
    registers,
  }),
})

const channelMetrics = (registers: Registry[]) => ({
  channels: new Gauge({
    name: 'posthorn_channels',
    help: 'Active channels by their link.',
    labelNames: ['channel_type', 'connection_status'],
    registers,
  }),
  circuits_open: new Gauge({
    name: 'posthorn_circuits_open',
    help: 'Channels of this process whose provider fails again and again, so that their messages wait.',
    labelNames: ['channel_type'],
    registers,
  }),
  channels_throttled: new Gauge({
    name: 'posthorn_channels_throttled',
    help: 'Channels of this process whose provider takes no more of them for now, so that their messages wait.',
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
  connections_open: new Gauge({ name: 'posthorn_connections', help: 'Connections that clients hold.', registers }),
  console_streams: new Gauge({
    name: 'posthorn_console_streams',
    help: 'Consoles of people that hear what happens as it happens.',
    registers,
  }),
  requests_unlogged: new Counter({
    name: 'posthorn_requests_unlogged_total',
    help: 'Answered requests that are missing in the request log of the console, because more came than a process holds.',
    registers,
  }),
  connections_refused: new Counter({
    name: 'posthorn_connections_refused_total',
    help: 'Connections refused because as many are open as may be; reason is all or address.',
    labelNames: ['reason'],
    registers,
  }),
  connections_closed: new Counter({
    name: 'posthorn_connections_closed_total',
    help: 'Connections closed for being silent, slow or idle; reason is headers_timeout, body_timeout, idle or displaced (by a new one).',
    labelNames: ['reason'],
    registers,
  }),
})
