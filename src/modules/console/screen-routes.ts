/** What the console's screens ask beyond `/v1` (behaviour: console 7). */
import type { ConsoleRoute } from './console-route.ts'
import type { ConsoleServices } from './console-services.ts'
import { conversationRoutes } from './conversations/routes.ts'
import { importStepRoutes } from './imports/routes.ts'
import { mediaRoutes } from './media/routes.ts'
import { overviewRoutes } from './overview/routes.ts'
import { previewRoutes } from './previews/routes.ts'
import { responseRoutes } from './campaign-responses/routes.ts'
import { searchRoutes } from './search/routes.ts'

export const screenRoutes = (services: ConsoleServices): ConsoleRoute[] => [
  ...overviewRoutes(services),
  ...searchRoutes(services),
  ...previewRoutes(services),
  ...conversationRoutes(services),
  ...importStepRoutes(services),
  ...mediaRoutes(services),
  ...responseRoutes(services),
]
