/** Which address shows which screen. Screens are loaded when they are shown. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router'
import type { FunctionComponent } from 'react'
import { Allowed, InAccount, SignedIn, Start } from './frame/guards.tsx'
import type { ScreenRoute } from './frame/screen-route.ts'
import { ZoneProvider } from './frame/zone-provider.tsx'
import { Crashed } from './parts/crashed.tsx'
import { NotFound, Waiting } from './parts/states.tsx'
import { usePlace } from './parts/use-place.ts'
import { basePath, paths } from './paths.ts'
import { parseQuery, queryText } from './query.ts'
import { accountScreens } from './screens/routes.ts'
import { text } from './text/en.ts'

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

/** For everybody, signed in or not. */
const open = [
  createRoute({
    getParentRoute: () => root,
    path: paths.signIn,
    component: lazyRouteComponent(() => import('./screens/people/sign-in-screen.tsx'), 'SignInScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: paths.setUp,
    component: lazyRouteComponent(() => import('./screens/people/set-up-screen.tsx'), 'SetUpScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: paths.reset,
    component: lazyRouteComponent(() => import('./screens/people/reset-screen.tsx'), 'ResetScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: paths.invitation,
    component: lazyRouteComponent(() => import('./screens/people/invitation-screen.tsx'), 'InvitationScreen'),
  }),
]

const signedIn = createRoute({ getParentRoute: () => root, id: 'signed-in', component: () => <SignedIn /> })
const start = createRoute({ getParentRoute: () => signedIn, path: '/', component: Start })
const profile = createRoute({
  getParentRoute: () => signedIn,
  path: paths.profile,
  component: lazyRouteComponent(() => import('./screens/profile/profile-screen.tsx'), 'ProfileScreen'),
})
const platform = createRoute({
  getParentRoute: () => signedIn,
  path: paths.admin,
  component: lazyRouteComponent(() => import('./screens/platform/platform-screen.tsx'), 'PlatformScreen'),
})
const NotFoundHere = () => <NotFound mode={usePlace().mode} />
const inAccount = createRoute({
  getParentRoute: () => signedIn,
  path: '$account/$mode',
  component: InAccount,
  notFoundComponent: NotFoundHere,
})

const screenOf = ({ path, needs, load }: ScreenRoute) => {
  const Shown = lazyRouteComponent(async () => ({ Shown: (await load()) as FunctionComponent }), 'Shown')
  const component = () => (
    <Allowed needs={needs}>
      <Shown />
    </Allowed>
  )
  // loaded before the screen that is there goes: React holds what takes the place of a fallback back for 300 ms
  return createRoute({
    getParentRoute: () => inAccount,
    path,
    component: Object.assign(component, { preload: Shown.preload }),
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
  defaultPendingComponent: Waiting,
  defaultNotFoundComponent: () => <NotFound />,
  defaultErrorComponent: Crashed,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
