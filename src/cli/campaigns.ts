/** `posthorn campaigns …` (behaviour: command-line 7). */
import { Argument, Option, type Command } from 'commander'
import type { App } from '../app.ts'
import type { Mode, Tenant } from '../api/caller.ts'
import { campaignStatuses, type Campaign, type CampaignStatus } from '../api/resources/campaign.ts'
import { printable } from '../lib/text.ts'
import { OperatorError } from '../lib/operator-error.ts'
import { accountOf, oneOfWords } from './arguments.ts'
import type { Cli, Register } from './program.ts'
import type { Terminal } from './terminal.ts'
import { dollars } from './billing.ts'

interface ListOptions {
  account?: string
  status?: CampaignStatus
}

const modes: readonly Mode[] = ['live', 'test']
const finished: readonly Campaign['status'][] = ['completed', 'cancelled', 'failed']
const sampleEveryMs = 1000
/** Without a terminal, the interval between lines of the same status. */
const lineEveryMs = 10_000
const samplesMax = 30

export const registerCampaigns: Register = (program, cli) => {
  const campaigns = program.command('campaigns').description('list campaigns and watch one run')
  const account = () => new Option('--account <account>', 'the id of the account; optional if there is only one')
  const itsAccount = () => new Option('--account <account>', 'the id of its account; optional')
  const id = () => new Argument('<campaign>', 'its id')

  campaigns
    .command('list')
    .description('list the campaigns of an account, newest first, with status and progress')
    .addOption(account())
    .option('--status <status>', `one of ${campaignStatuses.join(', ')}`, oneOfWords(campaignStatuses))
    .action(async (options: ListOptions, command: Command) => {
      const rows = await cli.withApp((app) => listAll(app, options))
      cli.print(command, {
        json: rows,
        text: rows.length === 0 ? 'No campaigns match.' : rows.map(line).join('\n'),
      })
    })

  campaigns
    .command('show')
    .description('show a campaign: counters, cost, and why recipients were skipped')
    .addArgument(id())
    .addOption(itsAccount())
    .action(async (campaign: string, options: { account?: string }, command: Command) => {
      const shown = await cli.withApp(async (app) => (await find(app, options.account, campaign)).campaign)
      cli.print(command, { json: shown, text: shownText(shown) })
    })

  campaigns
    .command('watch')
    .description('follow a campaign until it ends: progress bar, rate and time left')
    .addArgument(id())
    .addOption(itsAccount())
    .action((campaign: string, options: { account?: string }, command: Command) =>
      watch(cli, campaign, options.account, command),
    )
}

const line = (campaign: Campaign): string =>
  [
    campaign.id,
    campaign.mode,
    campaign.status.padEnd(9),
    `${String(percentOf(campaign)).padStart(3)} %`,
    `${campaign.counters.total - campaign.counters.queued}/${campaign.counters.total}`.padEnd(13),
    printable(campaign.name),
  ].join('  ')

/** Of both modes. */
async function listAll(app: App, { account, status }: ListOptions): Promise<Campaign[]> {
  const account_id = await accountOf(app, account)
  const rows: Campaign[] = []
  for (const mode of modes) {
    let starting_after: string | undefined
    do {
      const page = await app.services.campaigns.list(app.platform.pool, { account_id, mode }, status, {
        limit: 100,
        starting_after,
      })
      rows.push(...page.slice(0, 100))
      starting_after = page.length > 100 ? page[99]!.id : undefined
    } while (starting_after !== undefined)
  }
  return rows.toSorted((a, b) => (a.id < b.id ? 1 : -1))
}

async function find(
  app: App,
  account: string | undefined,
  id: string,
): Promise<{ tenant: Tenant; campaign: Campaign }> {
  const { campaigns } = app.services
  const { pool } = app.platform
  const tenant = await campaigns.tenantOf(pool, id)
  if (tenant === null || (account !== undefined && tenant.account_id !== (await accountOf(app, account))))
    throw new OperatorError(
      `No campaign has the id ${JSON.stringify(id.slice(0, 80))}. \`posthorn campaigns list\` shows them.`,
    )
  return { tenant, campaign: await campaigns.get(pool, tenant, id) }
}

/** Exit code 1 if the campaign failed. */
async function watch(cli: Cli, id: string, account: string | undefined, command: Command): Promise<void> {
  const json = command.optsWithGlobals()['json'] === true
  const ended = await cli.withApp(async (app) => {
    const { tenant, campaign } = await find(app, account, id)
    if (campaign.status === 'draft')
      throw new OperatorError(`The campaign ${id} is a draft. Launch it with POST /v1/campaigns/${id}/launch.`)
    return await follow(app, tenant, campaign, json ? null : progressPrinter(cli.terminal))
  })
  if (json) cli.print(command, { json: ended, text: '' })
  if (ended.status === 'failed') cli.exit(1)
}

async function follow(
  { platform, services }: App,
  tenant: Tenant,
  first: Campaign,
  print: ((samples: readonly Sample[], isLast: boolean) => void) | null,
): Promise<Campaign> {
  const { clock, pool } = platform
  const samples: Sample[] = [{ at: clock.elapsed(), campaign: first }]
  for (;;) {
    const { campaign } = samples.at(-1)!
    const isLast = finished.includes(campaign.status)
    print?.(samples, isLast)
    if (isLast) return campaign
    await clock.sleep(sampleEveryMs)
    samples.push({ at: clock.elapsed(), campaign: await services.campaigns.get(pool, tenant, first.id) })
    if (samples.length > samplesMax) samples.shift()
  }
}

function progressPrinter({ out, rewrites }: Terminal): (samples: readonly Sample[], isLast: boolean) => void {
  let printed: Sample | undefined
  if (rewrites === true) return (samples, isLast) => out(`\r\u001b[K${progressLine(samples)}${isLast ? '\n' : ''}`)
  return (samples, isLast) => {
    const sample = samples.at(-1)!
    if (
      !isLast &&
      printed !== undefined &&
      statusOf(printed.campaign) === statusOf(sample.campaign) &&
      sample.at < printed.at + lineEveryMs
    )
      return
    printed = sample
    out(`${progressLine(samples)}\n`)
  }
}

function shownText(campaign: Campaign): string {
  const { counters, cost } = campaign
  const times = (['created', 'launched', 'started', 'paused', 'completed', 'cancelled'] as const).flatMap((name) => {
    const at = campaign[`${name}_at`]
    return at === null ? [] : [`${name} ${at}`]
  })
  const reasons = Object.entries(counters.skip_reasons).map(([reason, count]) => `${count} ${reason}`)
  return [
    `${campaign.id}  ${campaign.mode}  ${printable(campaign.name)}`,
    `  status      ${statusOf(campaign)}, ${percentOf(campaign)} % done`,
    `  channel     ${campaign.channel_id} (${campaign.channel_type}), at most ${campaign.throttle_per_second} a second`,
    `  recipients  ${counters.total}: ${counters.queued} queued, ${counters.sent} sent (${counters.delivered} delivered, ${counters.read} read), ${counters.failed} failed, ${counters.skipped} skipped, ${counters.cancelled} cancelled`,
    ...(reasons.length === 0 ? [] : [`  skipped     ${reasons.join(', ')}`]),
    `  cost        ${dollars(cost.wallet_micros)} and ${cost.package_credits} credits${estimateText(cost)}`,
    `  times       ${times.join(', ')}`,
  ].join('\n')
}

/** Unknown before the snapshot of a segment. */
const estimateText = ({ estimated_wallet_micros: wallet, estimated_credits: credits }: Campaign['cost']): string =>
  wallet === null || credits === null ? '' : `; estimated ${dollars(wallet)} and ${credits} credits`

export interface Sample {
  /** Milliseconds. */
  readonly at: number
  readonly campaign: Campaign
}

/** Long enough for a steady rate, short enough to follow a pause. */
const rateWindowMs = 10_000
const barWidth = 24

const doneOf = ({ counters: { total, queued } }: Campaign): number => total - queued

/** Whole per cent, never 100 before the end; 0 before the snapshot. */
const percentOf = (campaign: Campaign): number =>
  campaign.counters.total === 0 ? 0 : Math.floor((100 * doneOf(campaign)) / campaign.counters.total)

function measuredRate(samples: readonly Sample[]): number | null {
  const last = samples.at(-1)
  const first = samples.find(
    ({ at, campaign }) => last !== undefined && at >= last.at - rateWindowMs && campaign.counters.total > 0,
  )
  if (last === undefined || first === undefined || last.at - first.at < 1000) return null
  return (1000 * (doneOf(last.campaign) - doneOf(first.campaign))) / (last.at - first.at)
}

/** `[######......] 52 %  520/1000  sending  19.8/s  24 s left  3 failed, 12 skipped`. */
export function progressLine(samples: readonly Sample[]): string {
  const { campaign } = samples.at(-1)!
  const { total, queued, failed, skipped, cancelled } = campaign.counters
  const full = total === 0 ? 0 : Math.floor((barWidth * doneOf(campaign)) / total)
  const rate = campaign.status === 'sending' ? measuredRate(samples) : null
  const asides = [
    failed > 0 ? `${failed} failed` : '',
    skipped > 0 ? `${skipped} skipped` : '',
    cancelled > 0 ? `${cancelled} cancelled` : '',
  ]
  return [
    `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}] ${String(percentOf(campaign)).padStart(3)} %`,
    `${doneOf(campaign)}/${total}`,
    statusOf(campaign),
    ...(rate === null ? [] : [`${rate.toFixed(1)}/s`, ...(rate > 0 ? [`${durationText(queued / rate)} left`] : [])]),
    asides.filter((aside) => aside !== '').join(', '),
  ]
    .filter((part) => part !== '')
    .join('  ')
}

export const statusOf = ({ status, pause_reason, failure_reason }: Campaign): string => {
  const reason = pause_reason ?? failure_reason
  return reason === null ? status : `${status} (${reason})`
}

/** `45 s`, `12 min`, `3 h 20 min`, rounded up. */
export function durationText(seconds: number): string {
  if (seconds <= 90) return `${Math.ceil(seconds)} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
