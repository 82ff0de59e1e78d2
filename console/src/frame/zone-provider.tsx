/** The zone in which times are shown: chosen above every screen, kept in this browser. */
import { useState, type ReactNode } from 'react'
import { browserZone, ZoneContext } from '../parts/times.ts'

const key = 'time zone'

export function ZoneProvider({ children }: { children: ReactNode }) {
  const [name, setName] = useState(() => localStorage.getItem(key) ?? browserZone())
  const choose = (next: string) => {
    localStorage.setItem(key, next)
    setName(next)
  }
  return <ZoneContext value={{ name, choose }}>{children}</ZoneContext>
}
