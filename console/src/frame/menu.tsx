/** The menu of an account's screens: those that the person may see. */
import { Link, useLocation } from '@tanstack/react-router'
import { may } from '../api/may.ts'
import { useOwnSession } from '../api/session.ts'
import { pathTo, type Place } from '../paths.ts'
import { accountScreens } from '../screens/routes.ts'
import { text } from '../text/en.ts'

export function Menu({ place, onGone }: { place: Place; onGone?: () => void }) {
  const session = useOwnSession()
  const [, , , section = ''] = useLocation().pathname.split('/')
  return (
    <nav aria-label={text.frame.main}>
      <ul className="menu-list">
        {accountScreens
          .filter(({ menu, needs }) => menu !== undefined && (needs === undefined || may(session, place, needs)))
          .map(({ path, menu }) => {
            const step = path === '/' ? '' : path
            return (
              <li key={path}>
                <Link
                  to={step === '' ? pathTo(place) : pathTo(place, step)}
                  activeOptions={{ exact: step === '' }}
                  aria-current={section === step ? 'page' : undefined}
                  onClick={onGone}
                >
                  {text.screens[menu!]}
                </Link>
              </li>
            )
          })}
      </ul>
    </nav>
  )
}
