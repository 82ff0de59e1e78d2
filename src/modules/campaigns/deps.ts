/** The services that campaigns use. */
import type { Platform } from '../../platform/platform.ts'
import type { AccountService } from '../accounts/service.ts'
import type { BillingService } from '../billing/service.ts'
import type { ChannelService } from '../channels/service.ts'
import type { ContactService } from '../contacts/service.ts'
import type { MessageService } from '../messages/service.ts'

export interface CampaignDeps {
  readonly platform: Platform
  readonly accounts: AccountService
  readonly billing: BillingService
  readonly channels: ChannelService
  readonly contacts: ContactService
  readonly messages: MessageService
}
