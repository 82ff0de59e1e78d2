/** Times, numbers and money in the person's time zone. */
import { createContext, use, useState, type ReactNode } from 'react'

export interface Zone {
  readonly name: string
  readonly choose: (name: string) => void
}

export const browserTimeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone

export const ZoneContext = createContext<Zone>({ name: 'UTC', choose: () => undefined })

export function useTimeFormat(): (instant: string | null | undefined) => string {
  const { name } = use(ZoneContext)
  const format = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium', timeZone: name })
  return (instant) => (instant === null || instant === undefined ? '–' : format.format(new Date(instant)))
}

/** With the year only if it is another one. */
export function useShortTimeFormat(): (instant: string) => string {
  const { name: timeZone } = use(ZoneContext)
  const parts = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', timeZone } as const
  const format = new Intl.DateTimeFormat('en', parts)
  const withYear = new Intl.DateTimeFormat('en', { ...parts, year: 'numeric' })
  const year = new Intl.DateTimeFormat('en', { year: 'numeric', timeZone })
  const thisYear = year.format(Date.now())
  return (instant) => (year.format(new Date(instant)) === thisYear ? format : withYear).format(new Date(instant))
}

const localTime = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}(?::\d{2})?))?$/

/** Text with an offset, or that is no time, is returned as typed. */
export function parseLocalTime(typed: string, zone: string): string {
  const [, date, time = '00:00'] = localTime.exec(typed.trim()) ?? []
  if (date === undefined) return typed.trim()
  const asIfUtc = Date.parse(`${date}T${time}Z`)
  if (Number.isNaN(asIfUtc)) return typed.trim()
  // the offset may differ at the result
  const first = asIfUtc - offsetMs(asIfUtc, zone)
  return new Date(asIfUtc - offsetMs(first, zone)).toISOString()
}

function offsetMs(instant: number, zone: string): number {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(instant)
  const of = (type: string) => Number(parts.find((part) => part.type === type)?.value)
  return (
    Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second')) -
    Math.floor(instant / 1000) * 1000
  )
}

export const useZone = (): string => use(ZoneContext).name

/** `2026-01-31 09:30` */
export function toLocalTime(instant: string, zone: string): string {
  const at = Date.parse(instant)
  const [day, time = ''] = new Date(at + offsetMs(at, zone)).toISOString().split('T')
  return `${day} ${time.slice(0, 5)}`
}

const key = 'time zone'

export function ZoneProvider({ children }: { children: ReactNode }) {
  const [name, setName] = useState(() => localStorage.getItem(key) ?? browserTimeZone())
  const choose = (next: string) => {
    localStorage.setItem(key, next)
    setName(next)
  }
  return <ZoneContext value={{ name, choose }}>{children}</ZoneContext>
}

const dollars = new Intl.NumberFormat('en', {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
})
const whole = new Intl.NumberFormat('en')

export const formatDollars = (micros: number): string => dollars.format(micros / 1_000_000)
export const formatNumber = (value: number): string => whole.format(value)

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })
export const formatPercent = (share: number): string => percent.format(share)

/** In micro-USD; undefined unless whole cents. */
export function parseDollars(typed: string): number | undefined {
  const [, whole, cents = ''] = /^\$?\s*(\d{1,7})(?:[.,](\d{1,2}))?$/.exec(typed.trim()) ?? []
  return whole === undefined ? undefined : (Number(whole) * 100 + Number(cents.padEnd(2, '0'))) * 10_000
}
