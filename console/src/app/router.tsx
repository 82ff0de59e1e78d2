/** The routes of the console, each screen a chunk of its own. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router'
import type { FunctionComponent } from 'react'
import { ErrorScreen, NotFound, LoadingIndicator } from '../components/feedback/screen.tsx'
import { ZoneProvider } from '../components/format/intl.tsx'
import { text } from '../text/en.ts'
import { RequirePermission, AccountLayout, RequireSession, HomeRedirect } from './guards.tsx'
import { basePath, parseQuery, paths, queryText, useWorkspace } from './paths.ts'
import { accountScreens, type ScreenRoute } from './routes.ts'

const root = createRootRoute({
  component: () => (
    <ZoneProvider>
      <a className="skip" href="#content">
        {text.skip}
      </a>
      <Outlet />
    </ZoneProvider>
  ),
  notFoundComponent: () => (
    <main id="content" className="card-page">
      <NotFound />
    </main>
  ),
})

const open = [
  createRoute({
    getParentRoute: () => root,
    path: paths.signIn,
    component: lazyRouteComponent(() => import('../features/sign-in/sign-in-screen.tsx'), 'SignInScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: paths.setUp,
    component: lazyRouteComponent(() => import('../features/sign-in/set-up-screen.tsx'), 'SetUpScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: paths.reset,
    component: lazyRouteComponent(() => import('../features/sign-in/reset-screen.tsx'), 'ResetScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: paths.confirmEmail,
    component: lazyRouteComponent(() => import('../features/sign-in/confirm-email-screen.tsx'), 'ConfirmEmailScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: paths.invitation,
    component: lazyRouteComponent(() => import('../features/sign-in/invitation-screen.tsx'), 'InvitationScreen'),
  }),
]

const signedIn = createRoute({ getParentRoute: () => root, id: 'signed-in', component: () => <RequireSession /> })
const start = createRoute({ getParentRoute: () => signedIn, path: '/', component: HomeRedirect })
const profile = createRoute({
  getParentRoute: () => signedIn,
  path: paths.profile,
  component: lazyRouteComponent(() => import('../features/profile/profile-screen.tsx'), 'ProfileScreen'),
})
const platform = createRoute({
  getParentRoute: () => signedIn,
  path: paths.admin,
  component: lazyRouteComponent(() => import('../features/platform/platform-screen.tsx'), 'PlatformScreen'),
})
const NotFoundHere = () => <NotFound mode={useWorkspace().mode} />
const inAccount = createRoute({
  getParentRoute: () => signedIn,
  path: '$account/$mode',
  component: AccountLayout,
  notFoundComponent: NotFoundHere,
})

const screenOf = ({ path, needs, load }: ScreenRoute) => {
  const Screen = lazyRouteComponent(async () => ({ Screen: (await load()) as FunctionComponent }), 'Screen')
  const component = () => (
    <RequirePermission needs={needs}>
      <Screen />
    </RequirePermission>
  )
  // React would show a fallback for at least 300 ms
  return createRoute({
    getParentRoute: () => inAccount,
    path,
    component: Object.assign(component, { preload: Screen.preload }),
  })
}

export const router = createRouter({
  routeTree: root.addChildren([
    ...open,
    signedIn.addChildren([start, profile, platform, inAccount.addChildren(accountScreens.map(screenOf))]),
  ]),
  basepath: basePath,
  parseSearch: parseQuery,
  stringifySearch: queryText,
  defaultPreload: 'intent',
  defaultPendingComponent: LoadingIndicator,
  defaultNotFoundComponent: () => <NotFound />,
  defaultErrorComponent: ErrorScreen,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
