/** What can be asked about integrations. */
import type { Route } from '../../platform/http/route.ts'
import { reportingRoutes } from './reporting/routes.ts'
import type { IntegrationService } from './service.ts'
import { runRoutes } from './runs/routes.ts'
import { sourceRoutes } from './sources/routes.ts'

export const integrationRoutes = ({ sources, reporting }: IntegrationService): Route[] => [
  ...sourceRoutes(sources),
  ...reportingRoutes(reporting),
  ...runRoutes,
]
