/** The services that automations use. */
import type { Platform } from '../../platform/platform.ts'
import type { ChannelService } from '../channels/service.ts'
import type { ContactService } from '../contacts/service.ts'
import type { MessageService } from '../messages/service.ts'

export interface AutomationDeps {
  readonly platform: Platform
  readonly channels: ChannelService
  readonly contacts: ContactService
  readonly messages: MessageService
}
