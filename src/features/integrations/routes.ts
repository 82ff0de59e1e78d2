/** What can be asked about integrations. */
import type { Route } from '../../platform/http/route.ts'
import type { IntegrationService } from './service.ts'
import { runRoutes } from './runs/routes.ts'
import { sourceRoutes } from './sources/routes.ts'

export const integrationRoutes = ({ sources }: IntegrationService): Route[] => [...sourceRoutes(sources), ...runRoutes]
