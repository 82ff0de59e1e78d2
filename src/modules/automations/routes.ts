/** What can be asked about integrations. */
import type { Route } from '../../platform/http/route.ts'
import { automationRoutes } from './automations/routes.ts'
import { receiverRoutes } from './receivers/routes.ts'
import { reportingRoutes } from './reporting/routes.ts'
import type { IntegrationService } from './service.ts'
import { runRoutes } from './runs/routes.ts'
import { sourceRoutes } from './sources/routes.ts'

export const integrationRoutes = ({ sources, automations, reporting, receiver }: IntegrationService): Route[] => [
  ...sourceRoutes(sources),
  ...reportingRoutes(reporting),
  ...receiverRoutes(receiver),
  ...automationRoutes(automations),
  ...runRoutes,
]
