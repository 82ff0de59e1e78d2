/** Which address shows which screen. Screens are loaded when they are shown. */
import { createRootRoute, createRouter, Outlet } from '@tanstack/react-router'
import { Crashed } from './parts/crashed.tsx'
import { NotFound, Waiting } from './parts/states.tsx'
import { basePath } from './paths.ts'
import { parseQuery, queryText } from './query.ts'
import { text } from './text/en.ts'

const root = createRootRoute({
  component: () => (
    <>
      <a className="skip" href="#content">
        {text.skip}
      </a>
      <Outlet />
    </>
  ),
  notFoundComponent: () => (
    <main id="content" className="card-page">
      <NotFound />
    </main>
  ),
})

export const router = createRouter({
  routeTree: root,
  basepath: basePath,
  parseSearch: parseQuery,
  stringifySearch: queryText,
  defaultPreload: 'intent',
  defaultPendingComponent: Waiting,
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: Crashed,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
