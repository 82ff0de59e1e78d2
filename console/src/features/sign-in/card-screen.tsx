/** The frame of screens outside of an account that ask for one thing. */
import { Paper } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { Screen } from '../../components/feedback/screen.tsx'

export function CardScreen({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main id="content" className="card-page">
      <Paper withBorder shadow="sm" p="lg">
        <Screen title={title}>{children}</Screen>
      </Paper>
    </main>
  )
}

/** The token of the link that the screen was opened with, also where it is pasted into the tab that shows the screen already; empty where there is none. */
export function useToken(): string {
  const [token, setToken] = useState(takeTokenFromUrl)
  useEffect(() => {
    const take = () => setToken(takeTokenFromUrl())
    addEventListener('hashchange', take)
    return () => removeEventListener('hashchange', take)
  }, [])
  return token
}

/** Takes it out of the address, so that no history holds it; it is kept for a reload of this tab. */
function takeTokenFromUrl(): string {
  const key = `token ${location.pathname}`
  const given = location.hash.slice(1)
  if (given === '') return sessionStorage.getItem(key) ?? ''
  sessionStorage.setItem(key, given)
  history.replaceState(history.state, '', location.pathname + location.search)
  return given
}

/** The link was used. */
export const clearToken = (): void => sessionStorage.removeItem(`token ${location.pathname}`)
