/** What the screens of the console look into: the services of the features to the left. */
import type { Platform } from '../../platform/platform.ts'
import type { AccountService } from '../accounts/service.ts'
import type { BillingService } from '../billing/service.ts'
import type { CampaignService } from '../campaigns/service.ts'
import type { ChannelService } from '../channels/service.ts'
import type { ImportService } from '../contacts/imports/service.ts'
import type { ContactService } from '../contacts/service.ts'
import type { IntegrationService } from '../automations/service.ts'
import type { MediaService } from '../media/service.ts'
import type { MessageService } from '../messages/service.ts'
import type { FeedService } from '../webhooks/feed/service.ts'
import type { WebhookService } from '../webhooks/service.ts'

export interface ConsoleServices {
  readonly platform: Platform
  readonly accounts: AccountService
  readonly billing: BillingService
  readonly channels: ChannelService
  readonly contacts: ContactService
  readonly imports: ImportService
  readonly media: MediaService
  readonly messages: MessageService
  readonly webhooks: WebhookService
  readonly feed: FeedService
  readonly campaigns: CampaignService
  readonly integrations: IntegrationService
}
