/** Campaigns: one message to many contacts. */
import type { Module } from '../../module.ts'
import { on } from '../../module.ts'
import { ofAccount } from '../../platform/database/table-scope.ts'
import type { CampaignDeps } from './deps.ts'
import { campaignInvariants } from './invariants.ts'
import { campaignProducer } from './producer.ts'
import { campaignProjection } from './projection.ts'
import { failCampaignsOfAccount, failCampaignsOfChannel, skipDeletedContacts, skipOptedOut } from './handlers.ts'
import { campaignRoutes } from './routes.ts'
import { campaignSendTimes } from './sending/send-windows.ts'
import { campaignService, type CampaignService } from './service.ts'

export const campaignsModule: Module<Omit<CampaignDeps, 'platform'>, { readonly campaigns: CampaignService }> = {
  name: 'campaigns',
  tables: {
    campaign_counters: ofAccount,
    campaign_jobs: ofAccount,
    campaign_recipients: ofAccount,
    campaign_tombstones: ofAccount,
    campaigns: ofAccount,
  },
  contributions: { producers: [campaignProducer], projections: [campaignProjection], sendTimes: [campaignSendTimes] },
  build({ platform }, { accounts, billing, channels, contacts, messages }) {
    const campaigns = campaignService({ platform, accounts, billing, channels, contacts, messages })
    return {
      services: { campaigns },
      routes: campaignRoutes(campaigns),
      workers: campaigns.workers,
      periodicJobs: campaigns.periodicJobs,
      invariants: campaignInvariants,
      handlers: [
        on('opted_out', 'campaigns', skipOptedOut),
        on('contact_deleted', 'campaigns', skipDeletedContacts),
        on('channel_deleted', 'campaigns', failCampaignsOfChannel(platform)),
        on('account_suspended', 'campaigns', failCampaignsOfAccount(platform)),
      ],
    }
  },
}
