/** Every screen of an account, in the order of the menu. */
import type { ScreenRoute } from '../frame/screen-route.ts'
import { accountOwnScreens } from './account/routes.ts'
import { billingScreens } from './billing/routes.ts'
import { contactImportScreens } from './contact-imports/routes.ts'
import { contactScreens } from './contacts/routes.ts'
import { contactListScreens } from './contact-lists/routes.ts'
import { automationScreens } from './automations/routes.ts'
import { campaignScreens } from './campaigns/routes.ts'
import { channelScreens } from './channels/routes.ts'
import { homeScreens } from './home/routes.ts'
import { integrationScreens } from './integrations/routes.ts'
import { inboxScreens } from './inbox/routes.ts'
import { messageScreens } from './messages/routes.ts'
import { developerScreens } from './developers/routes.ts'
import { eventScreens } from './events/routes.ts'
import { segmentScreens } from './segments/routes.ts'
import { webhookScreens } from './webhooks/routes.ts'

export const accountScreens: readonly ScreenRoute[] = [
  ...homeScreens,
  ...messageScreens,
  ...inboxScreens,
  ...contactScreens,
  ...contactImportScreens,
  ...contactListScreens,
  ...segmentScreens,
  ...channelScreens,
  ...campaignScreens,
  ...automationScreens,
  ...integrationScreens,
  ...webhookScreens,
  ...eventScreens,
  ...developerScreens,
  ...billingScreens,
  ...accountOwnScreens,
]
