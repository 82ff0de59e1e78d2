/** The page layout of screens without a session. */
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

/** From the URL fragment, even if pasted later; '' if none. */
export function useToken(): string {
  const [token, setToken] = useState(takeTokenFromUrl)
  useEffect(() => {
    const take = () => setToken(takeTokenFromUrl())
    addEventListener('hashchange', take)
    return () => removeEventListener('hashchange', take)
  }, [])
  return token
}

/** Keeps it out of the history; sessionStorage has it for reloads. */
function takeTokenFromUrl(): string {
  const key = `token ${location.pathname}`
  const given = location.hash.slice(1)
  if (given === '') return sessionStorage.getItem(key) ?? ''
  sessionStorage.setItem(key, given)
  history.replaceState(history.state, '', location.pathname + location.search)
  return given
}

/** Call after the link was used. */
export const clearToken = (): void => sessionStorage.removeItem(`token ${location.pathname}`)
