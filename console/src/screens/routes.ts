/** Every screen of an account, in the order of the menu. */
import type { ScreenRoute } from '../frame/screen-route.ts'
import { homeScreens } from './home/routes.ts'

export const accountScreens: readonly ScreenRoute[] = [...homeScreens]
