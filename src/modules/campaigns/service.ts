/** What campaigns mean: drafts, launching and what may be done to a campaign on its way. Owns their transactions. */
import type { Readable } from 'node:stream'
import type { Caller, Tenant } from '../../api/caller.ts'
import type {
  Campaign,
  CampaignCreation,
  CampaignDuplication,
  CampaignLaunch,
  CampaignRehearsal,
  CampaignStatus,
  CampaignUpdate,
} from '../../api/resources/campaign.ts'
import type { CampaignResponses } from '../../api/resources/campaign-responses.ts'
import type { MessagePreview, MessagePreviewRequest } from '../../api/resources/message-preview.ts'
import { InOrder } from '../../lib/in-order.ts'
import type { Db } from '../../platform/database/sql.ts'
import { untilDone } from '../../platform/jobs/periodic-jobs.ts'
import type { Page } from '../../platform/http/paging.ts'
import type { PeriodicJob } from '../../platform/platform.ts'
import type { RequestKey, Sent } from '../messages/service.ts'
import { foldCounters } from './counter-store.ts'
import type { CampaignDeps } from './deps.ts'
import { duplicateCampaign } from './drafts/duplicating.ts'
import type { Keep } from './keeping-answers.ts'
import { sendTest } from './test-send.ts'
import { createCampaign, removeDraft, updateDraft } from './drafts/drafts.ts'
import { cancelCampaign, pauseCampaign, resumeCampaign } from './lifecycle/actions.ts'
import { createLaunched, launchCampaign } from './lifecycle/launching.ts'
import { getCampaign, listCampaigns, listRecipients } from './reading.ts'
import type { RecipientFilters } from './recipient-store.ts'
import { recipientsCsv } from './recipients-csv.ts'
import { rehearsalCsv } from './rehearsal/csv.ts'
import { previewMessage } from './rehearsal/preview.ts'
import { rehearse } from './rehearsal/rehearsal.ts'
import { campaignResponses } from './responses.ts'
import { sendingWorker } from './sending/worker.ts'
import { findTenant } from './store.ts'
import { snapshotWorker } from './snapshot/worker.ts'

export type CampaignService = ReturnType<typeof campaignService>

/** Everything throws the Problem that refuses it. `keep`: in the transaction of the change, with the campaign as it is answered. */
export function campaignService(deps: CampaignDeps) {
  /** Changes of one draft: each is checked as the one before it has left it. */
  const changes = new InOrder()
  return {
    workers: [snapshotWorker(deps), sendingWorker(deps)],
    periodicJobs: [folding(deps)],
    /** A draft; with `launch` it is launched too, and nothing is kept where that is refused. */
    create: (sql: Db, caller: Caller, body: CampaignCreation, keep: Keep): Promise<Campaign> =>
      body.launch === true
        ? createLaunched(deps, sql, caller, body, keep)
        : createCampaign(deps, sql, caller, body, keep),
    launch: (sql: Db, caller: Caller, id: string, body: CampaignLaunch, keep: Keep): Promise<Campaign> =>
      launchCampaign(deps, sql, caller, id, body, keep),
    /** A draft of the same campaign. */
    duplicate: (sql: Db, caller: Caller, id: string, body: CampaignDuplication, keep: Keep): Promise<Campaign> =>
      duplicateCampaign(deps, sql, caller, id, body, keep),
    /** Sends its message to one address; under an Idempotency-Key once. */
    test: (sql: Db, caller: Caller, id: string, to: string, asked: RequestKey | undefined): Promise<Sent> =>
      sendTest(deps, sql, caller, id, to, asked),
    /** What a launch would do now, or what the campaign would still do. `gone` aborts when nobody waits for it any more. */
    rehearse: (caller: Caller, id: string, gone: AbortSignal): Promise<CampaignRehearsal> =>
      rehearse(deps, caller, id, gone),
    /** A message as it would go out, of which nothing is kept. */
    preview: (caller: Caller, body: MessagePreviewRequest, gone: AbortSignal): Promise<MessagePreview> =>
      previewMessage(deps, caller, body, gone),
    /** Each recipient with its outcome. */
    rehearsalCsv: (caller: Caller, id: string, gone: AbortSignal): Promise<Readable> =>
      rehearsalCsv(deps, caller, id, gone),
    pause: (sql: Db, tenant: Tenant, id: string, keep: Keep): Promise<Campaign> =>
      pauseCampaign(deps, sql, tenant, id, keep),
    resume: (sql: Db, tenant: Tenant, id: string, keep: Keep): Promise<Campaign> =>
      resumeCampaign(deps, sql, tenant, id, keep),
    cancel: (sql: Db, tenant: Tenant, id: string, keep: Keep): Promise<Campaign> =>
      cancelCampaign(deps, sql, tenant, id, keep),
    /** Who answered, and who opted out by that. */
    responses: (sql: Db, tenant: Tenant, id: string): Promise<CampaignResponses> =>
      campaignResponses(deps, sql, tenant, id),
    /** In the order of the snapshot; none before it is complete. */
    recipients: listRecipients,
    /** All that fit the filters. */
    recipientsCsv: (tenant: Tenant, id: string, filters: RecipientFilters, gone: AbortSignal): Promise<Readable> =>
      recipientsCsv(deps, tenant, id, filters, gone),
    /** Whose it is, for whoever knows its id alone: the operator. null: there is none. */
    tenantOf: (sql: Db, id: string): Promise<Tenant | null> => findTenant(sql, id),
    /** With the recipients of an ad-hoc audience. 404 `resource_missing` when there is none. */
    get: (sql: Db, tenant: Tenant, id: string): Promise<Campaign> => getCampaign(sql, tenant, id),
    /** Without the recipients of ad-hoc audiences. */
    list: (sql: Db, tenant: Tenant, status: CampaignStatus | undefined, page: Page): Promise<Campaign[]> =>
      listCampaigns(sql, tenant, status, page),
    /** Only a draft. */
    update: (sql: Db, tenant: Tenant, id: string, body: CampaignUpdate): Promise<Campaign> =>
      changes.run(id, () => updateDraft(deps, sql, tenant, id, body)),
    /** Only a draft. */
    remove: (sql: Db, tenant: Tenant, id: string): Promise<void> => removeDraft(deps, sql, tenant, id),
  }
}

/** Deltas of counters folded in one transaction. */
const foldedAtOnce = 5000

const folding = ({ platform }: CampaignDeps): PeriodicJob => ({
  name: 'fold-campaign-counters',
  every_ms: 1000,
  run: () => untilDone(platform.clock, foldedAtOnce, () => foldCounters(platform.pool, foldedAtOnce)),
})
