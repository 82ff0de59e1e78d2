/** What the console's screens ask beyond `/v1` (behaviour: console 7). */
import type { ConsoleRoute } from './console-route.ts'
import type { Desk } from './desk.ts'
import { conversationRoutes } from './conversations/routes.ts'
import { importStepRoutes } from './imports/routes.ts'
import { mediaRoutes } from './media/routes.ts'
import { overviewRoutes } from './overview/routes.ts'
import { previewRoutes } from './previews/routes.ts'
import { responseRoutes } from './campaign-responses/routes.ts'
import { searchRoutes } from './search/routes.ts'

export const deskRoutes = (desk: Desk): ConsoleRoute[] => [
  ...overviewRoutes(desk),
  ...searchRoutes(desk),
  ...previewRoutes(desk),
  ...conversationRoutes(desk),
  ...importStepRoutes(desk),
  ...mediaRoutes(desk),
  ...responseRoutes(desk),
]
