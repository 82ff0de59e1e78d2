/** The operations of campaigns, for routes and other modules. */
import type { Readable } from 'node:stream'
import type { Caller, Tenant } from '../../api/caller.ts'
import type { CampaignResponses } from '../../api/resources/campaign-responses.ts'
import type {
  Campaign,
  CampaignCreation,
  CampaignDuplication,
  CampaignLaunch,
  CampaignRehearsal,
  CampaignStatus,
  CampaignUpdate,
} from '../../api/resources/campaign.ts'
import type { MessagePreview, MessagePreviewRequest } from '../../api/resources/message-preview.ts'
import { InOrder } from '../../lib/concurrency.ts'
import { cancelCampaign, pauseCampaign, resumeCampaign } from './cancellation.ts'
import { foldCounters } from './counter-repository.ts'
import type { CampaignDeps } from './deps.ts'
import { createCampaign, removeDraft, updateDraft } from './drafts.ts'
import { duplicateCampaign } from './duplication.ts'
import { createLaunched, launchCampaign } from './launch.ts'
import { campaignResponses, getCampaign, listCampaigns, listRecipients, recipientsCsv } from './queries.ts'
import type { RecipientFilters } from './recipient-repository.ts'
import { previewMessage } from './rehearsal/preview.ts'
import { rehearsalCsv, rehearse } from './rehearsal/rehearsal.ts'
import { findTenant } from './repository.ts'
import { sendingWorker } from './sending/worker.ts'
import { snapshotWorker } from './snapshot/worker.ts'
import { sendTest } from './test-message.ts'
import type { StoreAnswer } from '../../platform/http/route.ts'
import type { RequestKey, Sent } from '../messages/service.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { Page } from '../../platform/http/paging.ts'
import { untilDone } from '../../platform/jobs/periodic-jobs.ts'
import type { PeriodicJob } from '../../platform/platform.ts'

export type CampaignService = ReturnType<typeof campaignService>

/** `storeAnswer` runs in the transaction of the change. */
export function campaignService(deps: CampaignDeps) {
  const changes = new InOrder()
  return {
    workers: [snapshotWorker(deps), sendingWorker(deps)],
    periodicJobs: [folding(deps)],
    /** With `launch`, nothing is stored if the launch is refused. */
    create: (sql: Db, caller: Caller, body: CampaignCreation, storeAnswer: StoreAnswer<Campaign>): Promise<Campaign> =>
      body.launch === true
        ? createLaunched(deps, sql, caller, body, storeAnswer)
        : createCampaign(deps, sql, caller, body, storeAnswer),
    launch: (
      sql: Db,
      caller: Caller,
      id: string,
      body: CampaignLaunch,
      storeAnswer: StoreAnswer<Campaign>,
    ): Promise<Campaign> => launchCampaign(deps, sql, caller, id, body, storeAnswer),
    duplicate: (
      sql: Db,
      caller: Caller,
      id: string,
      body: CampaignDuplication,
      storeAnswer: StoreAnswer<Campaign>,
    ): Promise<Campaign> => duplicateCampaign(deps, sql, caller, id, body, storeAnswer),
    /** Once per Idempotency-Key. */
    test: (sql: Db, caller: Caller, id: string, to: string, request: RequestKey | undefined): Promise<Sent> =>
      sendTest(deps, sql, caller, id, to, request),
    rehearse: (caller: Caller, id: string, gone: AbortSignal): Promise<CampaignRehearsal> =>
      rehearse(deps, caller, id, gone),
    preview: (caller: Caller, body: MessagePreviewRequest, gone: AbortSignal): Promise<MessagePreview> =>
      previewMessage(deps, caller, body, gone),
    rehearsalCsv: (caller: Caller, id: string, gone: AbortSignal): Promise<Readable> =>
      rehearsalCsv(deps, caller, id, gone),
    pause: (sql: Db, tenant: Tenant, id: string, storeAnswer: StoreAnswer<Campaign>): Promise<Campaign> =>
      pauseCampaign(deps, sql, tenant, id, storeAnswer),
    resume: (sql: Db, tenant: Tenant, id: string, storeAnswer: StoreAnswer<Campaign>): Promise<Campaign> =>
      resumeCampaign(deps, sql, tenant, id, storeAnswer),
    cancel: (sql: Db, tenant: Tenant, id: string, storeAnswer: StoreAnswer<Campaign>): Promise<Campaign> =>
      cancelCampaign(deps, sql, tenant, id, storeAnswer),
    responses: (sql: Db, tenant: Tenant, id: string): Promise<CampaignResponses> =>
      campaignResponses(deps, sql, tenant, id),
    recipients: listRecipients,
    recipientsCsv: (tenant: Tenant, id: string, filters: RecipientFilters, gone: AbortSignal): Promise<Readable> =>
      recipientsCsv(deps, tenant, id, filters, gone),
    tenantOf: (sql: Db, id: string): Promise<Tenant | null> => findTenant(sql, id),
    get: (sql: Db, tenant: Tenant, id: string): Promise<Campaign> => getCampaign(sql, tenant, id),
    list: (sql: Db, tenant: Tenant, status: CampaignStatus | undefined, page: Page): Promise<Campaign[]> =>
      listCampaigns(sql, tenant, status, page),
    update: (sql: Db, tenant: Tenant, id: string, body: CampaignUpdate): Promise<Campaign> =>
      changes.run(id, () => updateDraft(deps, sql, tenant, id, body)),
    /** Drafts only. */
    remove: (sql: Db, tenant: Tenant, id: string): Promise<void> => removeDraft(deps, sql, tenant, id),
  }
}

const foldedAtOnce = 5000

const folding = ({ platform }: CampaignDeps): PeriodicJob => ({
  name: 'fold-campaign-counters',
  every_ms: 1000,
  run: () => untilDone(platform.clock, foldedAtOnce, () => foldCounters(platform.pool, foldedAtOnce)),
})
